"""A small treebank of relief news, written for this project, and sentences that are not in it."""

from pathlib import Path

#: 149 sentences in 34 clusters, each about one event; see README.md beside it.
TREEBANK = Path(__file__).parent / "relief.conllu"

#: New sentences in the words of the treebank, base NPs in brackets: what the demo puts back in order.
NEW_SENTENCES = (
    "[Heavy snow] closed [the road] to [Sarkesh] on [Monday] .",
    "[The first trucks] arrived in [the camp] on [Tuesday] .",
    "[The agency] said that [families] need [clean water] .",
    "[Soldiers] cleared [the road] after [the storm] .",
)

__all__ = ["NEW_SENTENCES", "TREEBANK"]
