"""``sentgen demo``: the whole way from a treebank to a sentence, on data that ships with sentgen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sentgen.cli.console.output import Output
from sentgen.cli.ingest import report
from sentgen.counts.ingestion import Settings
from sentgen.counts.ingestion import ingest as run_ingest
from sentgen.demo import NEW_SENTENCES, TREEBANK
from sentgen.generation import ALGORITHMS, RegeneratedSentence, parse_bag, regenerate, shuffled
from sentgen.generation.drawing import tree_text
from sentgen.generation.plan import WITH_TREES
from sentgen.models.build_request import BuildRequest
from sentgen.output.tabular import Rows
from sentgen.output.wording import quantity
from sentgen.schema import Store
from sentgen.schema.store import fetch_rows

_SEED = 1
#: The model of the demo; a second run of the demo builds no second version.
_MODEL = BuildRequest(name="relief", corpus=["relief"], order=3, companions=True)
_DEFAULT = WITH_TREES
_ALGORITHMS = (_DEFAULT, "beam", "ab", "lmo")
_BAGS = [parse_bag(sentence) for sentence in NEW_SENTENCES]
_ORIGINALS = [" ".join(word for unit in bag for word in unit.words) for bag in _BAGS]
_SHOWN = 5
_TOP = """\
select w1, w2, w3, count
from v_ngrams_3
where w1 <> '<s>' and w3 <> '</s>'
order by count desc, w1, w2, w3
limit 5"""


def demo(
    db: Annotated[
        Path, typer.Option("--db", metavar="FILE", help="The store to make, or to use again.")
        # Not the store of the user, in which a demo should leave nothing.
    ] = Path("sentgen-demo.duckdb"),
) -> None:
    """Ingest a small treebank, count it, build a model, and put scrambled sentences back in order.

    Example: `sentgen demo`
    """
    with Store(db, create=True) as store:
        _heading("1. Ingest and count 149 sentences of relief news, written for this demo")
        report(run_ingest(store, [str(TREEBANK)], Settings("relief", licence="Apache-2.0")), db)
        _heading("2. The most frequent trigrams, by SQL", _TOP)
        with store.connect() as connection:
            Output().table(fetch_rows(connection, _TOP))
        _heading(
            "3. Build a language model, and its companions over tags, classes and items",
            "order 3, modified Kneser-Ney",
        )
        models = _MODEL.built(store) or _MODEL.build(store)
        for model in models:
            typer.echo(f"{model.label}: {model.size}, {quantity(model.tokens, 'token')}")
        _heading(
            "4. Put scrambled sentences back in order (they are not in the treebank)",
            f"{_DEFAULT}, the default, asks all four models and the trees;"
            f" {_SHOWN} of {len(_BAGS)}, chosen as most come out well:",
        )
        # Algorithms do not see the order of words.
        answers = {
            name: list(regenerate(store, models[0], _BAGS, algorithm=name, seed=_SEED))
            for name in _ALGORITHMS
        }
        Output().table(_shown(answers[_DEFAULT]))
        _heading(f"5. How many of all {len(_BAGS)} come out as they were written")
        Output().table(_count_right(answers))
        last = answers[_DEFAULT][_SHOWN - 1]
        _heading(f"6. The tree that {_DEFAULT} built for: {last.text}")
        if last.tree:
            typer.echo("\n".join(tree_text(last.units, last.tree.heads)))
    _what_next(db)


def _shown(answers: Sequence[RegeneratedSentence]) -> Rows:
    """Return the first sentences: the words given, the answer, and the original."""
    rows = []
    for answer, bag, original in list(zip(answers, _BAGS, _ORIGINALS, strict=True))[:_SHOWN]:
        rows.append(("given", " ".join(str(unit) for unit in shuffled(bag, _SEED))))
        rows.append((_DEFAULT, answer.text))
        if answer.text != original:
            rows.append(("original", original))
    return Rows(("what", "sentence"), rows)


def _count_right(answers: Mapping[str, Sequence[RegeneratedSentence]]) -> Rows:
    """Return the number of sentences that each algorithm put in the original order."""
    rows = [
        (
            name,
            ALGORITHMS[name].title,
            sum(answer.text == text for answer, text in zip(sentences, _ORIGINALS, strict=True)),
        )
        for name, sentences in answers.items()
    ]
    return Rows(("algorithm", "what", "right"), rows)


def _heading(text: str, detail: str = "") -> None:
    typer.secho(f"\n{text}", bold=True)
    if detail:
        typer.secho(detail, dim=True)


def _what_next(db: Path) -> None:
    _heading("Try next")
    for command in (
        f'sentgen ngrams "the *" --db {db}',
        f"sentgen kwic camp --db {db}",
        f"sentgen collocations water --db {db}",
        f"sentgen deps arrived --db {db} --show-sql",
        f'sentgen sql "select * from v_corpora" --db {db}',
        f'sentgen regenerate --model relief "[the trucks] reached [the city] ." --db {db}',
        f'sentgen regenerate --model relief --tree --explain "[the trucks] reached [the city] ." --db {db}',
        "sentgen ingest YOUR.conllu --corpus mine",
    ):
        typer.echo(f"  {command}")
