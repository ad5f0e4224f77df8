"""Order the words and phrases of sentences."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from sentgen.errors import InputError
from sentgen.generation import ALGORITHMS, algorithm_named
from sentgen.generation.answers import (
    Request,
    answer,
    bags_of,
    notes,
    reason_table,
    require_trees,
    sentence_table,
)
from sentgen.generation.settings import LmoContext, Padding, Paper, Positions, Theft
from sentgen.server.operations.operation import (
    Context,
    Lowercase,
    ModelName,
    Operation,
    Parameters,
    Positional,
    Result,
)

#: Settings of a search; what is not given has the algorithm's default.
_SEARCH = (
    *("order", "beam", "lmo_context", "verb_root", "noun_under_noun", "one_root"),
    *("theft", "q", "padding", "padding_cost"),
)


def _off(option: str) -> dict[str, Any]:
    """Name the option that is the opposite of a parameter."""
    return {"x-off": option}


class Regenerate(Parameters):
    """Bags of words and [base noun phrases]; the order in which they are given does not matter."""

    bag: list[str] = Positional("Words and [base noun phrases], a sentence each.", min_length=1)
    model: ModelName
    algorithm: str = Field("beam", description=f"One of: {', '.join(ALGORITHMS)}.")
    units: Literal["np", "word"] = Field("np", description="Keep base noun phrases whole, or break them up.")
    np_joiner: str = Field("", max_length=20, description="What joins the words of a phrase, as in the_dow.")
    tagged: bool | None = Field(None, description="Words are word/TAG. Default: if all have a slash.")
    lowercase: Lowercase = None
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of the shuffle that breaks ties.")
    nbest: int = Field(1, ge=1, le=100, description="Sentences to give for each bag, at most.")
    tree: bool = Field(False, description="Give the dependency trees, also as SVG and CoNLL-U.")
    explain: bool = Field(False, description="Give what is behind each attachment, or word, instead.")
    as_published: Paper | None = Field(None, description="Take every literal reading of a paper.")
    order: int | None = Field(None, ge=2, le=5, description="Order of the n-grams.")
    beam: int | None = Field(None, ge=1, le=2048, description="Hypotheses kept a stack.")
    lmo_context: LmoContext | None = Field(
        None, description="What a unit joins: the last one, or all so far."
    )
    verb_root: bool | None = Field(
        None,
        description="Only a verb may be the root, if there is one.",
        json_schema_extra=_off("--any-root"),
    )
    noun_under_noun: bool | None = Field(
        None, description="A noun may modify a noun.", json_schema_extra=_off("--no-noun-under-noun")
    )
    one_root: bool | None = Field(
        None, description="Only one unit may be the root.", json_schema_extra=_off("--many-roots")
    )
    theft: Theft | None = Field(None, description="How an edge is scaled that robs another head.")
    q: Positions | None = Field(None, description="Argument positions: by the paper's rule, or as seen.")
    padding: Padding | None = Field(None, description="Let any position stay empty, or as in the paper.")
    padding_cost: float | None = Field(
        None, ge=-1e6, le=1e6, description="Cost of a position that stays empty, in nats."
    )
    dependencies: list[str] | None = Field(
        None, max_length=100, description="Treebanks to take dependencies from. Default: the model's corpora."
    )


def regenerate(context: Context, asked: Regenerate) -> Result:
    """Answer `sentgen regenerate`."""
    if asked.tree and asked.explain:
        raise InputError("--tree and --explain are two tables; choose one of them")
    wanted = {"--tree": asked.tree, "--dependencies": asked.dependencies}
    require_trees(algorithm_named(asked.algorithm), wanted)
    context.check_size((len(bag.split()) for bag in asked.bag), "bag")
    request = Request(
        model=asked.model,
        algorithm=asked.algorithm,
        units=asked.units,
        np_joiner=asked.np_joiner,
        tagged=asked.tagged,
        lowercase=asked.lowercase,
        seed=asked.seed,
        nbest=asked.nbest,
        as_published=asked.as_published,
        changes={name: getattr(asked, name) for name in _SEARCH if getattr(asked, name) is not None},
        dependencies=tuple(asked.dependencies) if asked.dependencies else None,
    )
    found = answer(context.opened, request, lambda notation: bags_of(asked.bag, notation))
    table = reason_table(found) if asked.explain else sentence_table(found, tree=asked.tree)
    more = {"svg": found.svg(), "conllu": found.conllu()} if asked.tree else {}
    return Result(table, notes=list(notes(found)), more=more)


OPERATIONS = (
    Operation(
        "regenerate",
        "Order the words and phrases of sentences.",
        "regenerate",
        Regenerate,
        regenerate,
        kind="compute",
        method="POST",
        example={"bag": ["[the trucks] reached [the city] ."], "model": "relief", "algorithm": "ab"},
    ),
)
