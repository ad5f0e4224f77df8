"""The commands: where each of them is, and the first paragraph of its help.

Help and completion read these, and import no command. ``commands.json`` has the paragraphs, by the names of
the commands; `docs/generate_reference.py` writes it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Listed:
    """A command, or a group of commands, as help and completion list it.

    Args:
        name: what the user types.
        help: the first paragraph of its help.
        place: its module in sentgen.cli, and the function there, or the Typer of a group; empty within it.
        panel: the panel of the help in which it stands.
        commands: the commands of a group.
    """

    name: str
    help: str
    place: str = ""
    panel: str | None = None
    commands: tuple[Listed, ...] = ()


HELP = Path(__file__).with_name("commands.json")

#: The commands in each panel, with their modules, and what these call them.
_PANELS = {
    "Start here": {
        "demo": "demo:demo",
    },
    "Corpora": {
        "ingest": "corpus.ingest:ingest",
        "corpora": "corpus.corpora:app",
        "subcorpora": "looking.subcorpora:app",
        "parser": "corpus.parser:app",
        "pairs": "corpus.pairs:app",
    },
    "Look inside": {
        "ngrams": "looking.inspect:ngrams",
        "deps": "looking.inspect:deps",
        "args": "looking.inspect:args",
        "kwic": "looking.inspect:kwic",
        "match": "looking.match:match",
        "freq": "looking.inspect:freq",
        "collocations": "looking.inspect:collocations",
        "sketch": "looking.inspect:sketch",
        "keyness": "looking.inspect:keyness",
        "saved": "looking.saved:app",
        "cite": "looking.cite:cite",
        "sql": "looking.sql:sql",
        "schema": "looking.schema:show",
    },
    "Models and sentences": {
        "models": "modeling.models:app",
        "vectors": "modeling.vectors:app",
        "score": "modeling.score:score",
        "regenerate": "generating.regenerate:regenerate",
        "generate": "generating.generate:generate",
        "fuse": "generating.fuse:fuse",
        "check": "aligning.check:check",
        "align": "aligning.align:app",
        "evaluate": "measuring.evaluate:app",
        "tune": "modeling.tune:command",
        "reproduce": "measuring.reproduce:command",
    },
    "The store": {
        "db": "keeping.db:app",
    },
    "Available components": {
        "formats": "choices:formats",
        "algorithms": "choices:algorithms",
        "aligners": "choices:aligners",
    },
    "Beyond one machine": {
        "cluster": "keeping.cluster:app",
    },
    "The server": {
        "publish": "keeping.publish:publish",
        "serve": "keeping.serve:serve",
    },
}


def _all() -> tuple[Listed, ...]:
    helps: dict[str, str] = json.loads(HELP.read_text("utf-8"))
    within: dict[str, list[Listed]] = {}
    for words, help in helps.items():
        group, _, name = words.rpartition(" ")
        within.setdefault(group, []).append(Listed(name, help))
    return tuple(
        Listed(name, helps[name], place, panel, tuple(within.get(name, ())))
        for panel, places in _PANELS.items()
        for name, place in places.items()
    )


<<<<<<< HEAD
COMMANDS = _all()
=======
COMMANDS = (
    *_in(
        "Start here",
        Listed(
            "demo",
            "Ingest a small treebank, count it, build a model, and put scrambled sentences back in order.",
            "demo",
            "demo",
        ),
    ),
    *_in(
        "Corpora",
        Listed("ingest", "Read corpora into the store and count them.", "corpus.ingest", "ingest"),
        _group(
            "corpus.corpora",
            "List, show, verify, export and remove corpora.",
            list="List the corpora with their sizes and licences.",
            show="Show the sources of a corpus, or the sentences that were refused.",
            verify="Compare the sources of a corpus with the files on disk; exit code 1 if one differs.",
            export="Write a corpus as CoNLL-U: CoNLL-U that was ingested comes back byte for byte.",
            remove="Remove a corpus with all its counts; the other counts stay as they are.",
        ),
        _group(
            "looking.subcorpora",
            "Define, list, show and remove subcorpora: sentences chosen by their metadata.",
            define="Define a subcorpus, usable wherever a corpus name is.",
            list="List the subcorpora with their corpora and conditions.",
            show="Show the condition of a subcorpus, and how many sentences, tokens and documents it has.",
            remove="Forget a subcorpus; its sentences stay in their corpora.",
        ),
        _group(
            "corpus.parser",
            "Run dependency parsers, and see what they gave.",
            run="Parse text and print it as CoNLL-U; sentences that have trees keep them.",
            list="List the parsers whose parses the store has kept.",
            forget="Remove the parses of a parser from the store; corpora stay as they are.",
        ),
        _group(
            "corpus.pairs",
            "Read, list and show documents with their abstracts.",
            ingest="Read pairs into the store.",
            list="List the corpora of pairs, or the pairs of one.",
            show="Show a document and its abstract as they are stored, a sentence a line.",
        ),
    ),
    *_in(
        "Look inside",
        Listed(
            "ngrams", "Show the n-grams that match a pattern, with their counts.", "looking.inspect", "ngrams"
        ),
        Listed("deps", "Show the dependencies between a head and its modifiers.", "looking.inspect", "deps"),
        Listed("args", "Show how many modifiers a word takes on each side.", "looking.inspect", "args"),
        Listed(
            "kwic", "Show a word or a sequence of words in context (concordance).", "looking.inspect", "kwic"
        ),
        Listed(
            "match",
            "Show where a Grew request matches the trees, or count the hits by keys.",
            "looking.match",
            "match",
        ),
        Listed("freq", "Show a frequency list with dispersion and coverage.", "looking.inspect", "freq"),
        Listed(
            "collocations",
            "Show what occurs with a word more often than chance.",
            "looking.inspect",
            "collocations",
        ),
        Listed(
            "sketch",
            "Show the strongest collocates of a word in each dependency relation (a word sketch).",
            "looking.inspect",
            "sketch",
        ),
        Listed(
            "keyness",
            "Show the keywords of corpora: what is more frequent in them than in others.",
            "looking.inspect",
            "keyness",
        ),
        _group(
            "looking.saved",
            "Save queries under a name, and run them.",
            add="Save a query under a name; write it behind `--`, so that its options are its own.",
            list="List the saved queries, each with its command line.",
            run="Run a saved query, with more options behind `--` if you like.",
            remove="Remove a saved query.",
        ),
        Listed(
            "cite",
            "Say how to cite a snapshot, a lake or the store, and a query on it.",
            "looking.cite",
            "cite",
        ),
        Listed(
            "sql",
            "Run one SELECT over the tables and views of the store and show its rows.",
            "looking.sql",
            "sql",
        ),
        Listed(
            "schema",
            "Show the tables and views with what they hold, or the columns of one of them.",
            "looking.schema",
            "show",
        ),
    ),
    *_in(
        "Models and sentences",
        _group(
            "modeling.models",
            "Build, show, remove, export and import language models.",
            build="Build the next version of a model from the counts of corpora.",
            list="List the models with their settings.",
            show="Show the settings of a model, its n-grams per order, its discounts, and whether it is"
            " stale.",
            remove="Remove a model with all its versions, or one version.",
            export="Write a model to an ARPA file, as KenLM and SRILM read it.",
            import_arpa="Store an ARPA file as the next version of a model.",
        ),
        _group(
            "modeling.vectors",
            "Build, list and remove word vectors, and show what is near a word.",
            build="Build vectors of the words of corpora, in lower case: PPMI with their company, by"
            " truncated SVD.",
            list="List the vectors with their settings.",
            near="Show the words that are nearest to a word, or to a phrase in quotes, by the cosine of their"
            " vectors.",
            remove="Remove vectors; corpora stay as they are.",
        ),
        Listed(
            "score",
            "Score tokenized sentences: log10 probability (with the end of the sentence), unknown words,"
            " perplexity.",
            "modeling.score",
            "score",
        ),
        Listed(
            "regenerate",
            "Order the words and phrases of a sentence; the order in which they are given does not matter.",
            "generating.regenerate",
            "regenerate",
        ),
        Listed(
            "generate",
            "Make the most probable sentences of each length from the words of a cluster of related"
            " sentences.",
            "generating.generate",
            "generate",
        ),
        Listed(
            "fuse",
            "Make one new sentence of a key sentence and modifiers from related ones (Global Revision,"
            " 2007).",
            "generating.fuse",
            "fuse",
        ),
        Listed(
            "check",
            "Check which verb arguments of a summary have support in its source.",
            "aligning.check",
            "check",
        ),
        _group(
            "aligning.align",
            "Align abstracts with the documents that they come from: train, apply, show.",
            text="Show where each phrase of a summary comes from in its document, and which words are new.",
            train="Train a model on a corpus of pairs by EM, without links.",
            tune="Tune a model on links that people drew, by conditional training of the preset best.",
            model="Show the iterations and the jumps of a model, or the top rewrites of a word.",
            models="List the models that align.",
            remove="Remove a model with the alignments that it made.",
            apply="Align a corpus of pairs with a model, and keep links, P(null) and figures in the store.",
            figures="Show the figures of each abstract: coverage, density, share without a link, longest"
            " copied run.",
            export="Print the links that a model found in a corpus of pairs.",
        ),
        _group(
            "measuring.evaluate",
            "Run experiments; every figure is recorded in the store.",
            generation="Generate sentences from clusters, parse them, and look their verb arguments up in"
            " the cluster.",
            alignment="Align pairs that people aligned, and compare: precision, recall, F, error rate,"
            " strict and soft.",
            regeneration="Shuffle the units of test sentences, order them again, and compare with the"
            " original.",
        ),
        Listed(
            "tune",
            "Learn what n-gram models and factors of trees weigh for `joint`, from sentences not in the"
            " model.",
            "modeling.tune",
            "command",
        ),
        Listed(
            "reproduce",
            "Train and test as a paper did, and print its figures beside those that come out.",
            "measuring.reproduce",
            "command",
        ),
    ),
    *_in(
        "The store",
        _group(
            "keeping.db",
            "Look after the store: size, integrity, repair, compaction, upgrade.",
            path="Print where the store is.",
            info="Show the tables with their rows and bytes, and versions and file size on standard error.",
            check="Check that everything in the store fits together; exit code 1 if something does not.",
            repair="Remove what a killed process left half done; exit code 1 if more is left to do.",
            compact="Merge the counts of each corpus into one segment and give free space back to the disk.",
            upgrade="Bring a store of an older sentgen up to date, after a backup beside it.",
        ),
    ),
    *_in(
        "Available components",
        Listed(
            "formats",
            "List the formats of corpora that can be read, those of plug-ins included.",
            "choices",
            "formats",
        ),
        Listed(
            "algorithms",
            "List the algorithms that order bags, those of plug-ins included.",
            "choices",
            "algorithms",
        ),
        Listed(
            "aligners",
            "List the systems that align texts, those of plug-ins included.",
            "choices",
            "aligners",
        ),
    ),
    *_in(
        "Beyond one machine",
        _group(
            "keeping.cluster",
            "Count beyond one machine, into lakes: stores as Parquet files in a folder or bucket.",
            count="Count corpora on many processes or machines into a lake, which DuckDB reads.",
            models="Build the next version of a model from the counts of a lake, on many processes or"
            " machines.",
            status="Show what a lake holds: corpora and tables with files and bytes, and how far"
            " unfinished work is.",
            remove="Remove a corpus with all its counts from a lake, or a model, or what is not finished.",
            script="Print a job script that counts on a cluster: submit it with sbatch, and again if it is"
            " cut short.",
            export="Write the store as a lake: Parquet files that every command reads with --db LAKE.",
        ),
    ),
    *_in(
        "The server",
        Listed(
            "publish",
            "Publish the store: copy it, as it is now, into a read-only file that `sentgen serve` opens.",
            "keeping.publish",
            "publish",
        ),
        Listed(
            "serve",
            "Serve a published store over HTTP: the API under /v1, and pages for a browser.",
            "keeping.serve",
            "serve",
        ),
    ),
)
>>>>>>> 3dcaf03 (Leave training of UDPipe models to UDPipe)
