"""A small treebank of relief news, written for this project, and sentences that are not in it."""

from pathlib import Path

#: 149 sentences in 34 clusters, each about one event; see README.md beside it.
TREEBANK = Path(__file__).parent / "relief.conllu"

#: New sentences in the words of the treebank, base NPs in brackets: what the demo puts back in order. All of
#: them count; of the first five, which it shows, four come out right.
NEW_SENTENCES = (
    "[Heavy snow] closed [the road] to [Sarkesh] on [Monday] .",
    "[The governor] said that [many people] had left [the island] of [Noreth] .",
    "[Trucks] carrying [food] and [medicine] crossed [the border] on [Monday] .",
    "[Four million people] in [the south] need [clean water] .",
    "[The bridge] was destroyed by [the floods] .",
    "[The first trucks] arrived in [the camp] on [Tuesday] .",
    "[The agency] said that [families] need [clean water] .",
    "[Soldiers] cleared [the road] after [the storm] .",
    "[The first trucks] arrived in [the camp] .",
    "[Survivors] of [the earthquake] are living in [tents] .",
    "[Thousands] of [people] left [their homes] after [a volcano] erupted .",
    "[The convoy] reached [the city] of [Sarkesh] on [Friday] .",
    "[Doctors] treated [the children] in [mobile clinics] .",
    "[A fire] destroyed [the clinic] on [Sunday] .",
    "[Refugees] who crossed [the border] received [tents] and [blankets] .",
    "[The ship] left [the port] of [Halvard] on [Saturday] .",
    "[Aid workers] said that [the road] to [Adwela] was closed .",
    "[Families] who lost [their homes] are living in [the school] .",
    "[A school] for [refugee children] opened in [the camp] on [Tuesday] .",
    "[Soldiers] cleared [rocks] from [the road] to [Danvara] .",
    "[The health ministry] said that [cholera] is spreading in [the camps] .",
    "[Boats] rescued [families] from [the roofs] of [their houses] .",
    "[The storm] destroyed [schools] and [clinics] in [the north] .",
    "[Engineers] repaired [the bridge] after [the floods] .",
    "[Heavy rains] flooded [villages] near [the river] on [Thursday] .",
    "[An aid convoy] was attacked near [Sarkesh] on [Wednesday] .",
    "[The agency] sent [boats] to [the flooded villages] .",
    "[The drivers] said that [the medicine] had spoiled .",
)

__all__ = ["NEW_SENTENCES", "TREEBANK"]
