"""Messages to users: a number has the right form of its noun."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from conftest import Sentgen, refused

ROOT = Path(__file__).parents[2]
#: What messages count.
NOUNS = (
    "bags blocks bytes characters checks clusters documents events files hits iterations lines links matches "
    "models n-grams pairs phrases requests rows segments sentences sources tags terms texts times tokens trees "
    "types units versions words"
)
_PLURAL = re.compile(
    rf" (?:(?:different|more|new|other|parsed|refused|test|word) )?({'|'.join(NOUNS.split())})\b"
)
_MAY_BE = re.compile(rf"\}}[\"'\s()fr]*{_PLURAL.pattern}")
#: Numbers that are never one: limits, and what is refused or told for being none or several. No numbers at all.
NEVER_ONE = {
    "_LONGEST bytes": "a limit",
    "_LARGEST_WINDOW tokens": "a limit",
    "_MOST_LINE_BYTES bytes": "a limit",
    "self.nbest sentences": "none and less",
    "self.sentence_tokens tokens": "a limit",
    "items.length tokens": "more than one, of a sequence",
    "FREQUENT tokens": "a limit",
    "MAX_BYTES bytes": "a limit",
    "len(lines) lines": "more than there is room for",
    "MARKED hits": "a limit",
    "MOST_CHARACTERS characters": "a limit",
    "MOST_TOKENS tokens": "a limit",
    "MOST_TIMES times": "a limit",
    "MOST_TAGS different tags": "a limit",
    "most bytes": "a limit",
    "_MOST_WHOLE bytes": "a limit",
    "most times": "an end of a range",
    "models models": "two or more",
    "sum(before.values()) n-grams": "two at least: <s> and </s>",
    "len(value) characters": "more than a limit",
    "abstract words": "more than a limit",
    "cells word pairs": "a limit",
    "int(limits.cells) word pairs": "a limit",
    "len(pair.abstract) words": "more than there is room for",
    "events phrases": "more than a limit",
    "int(self._most) links": "a limit",
    "least times": "two and more",
    "len(keys) pairs": "more than a limit",
    "len(forms) tokens": "more than a limit",
    "len(paths) files": "none or several",
    "len(candidates) sentences": "none or several",
    "len(parts) words": "more than a limit",
    "len(sources) files": "none or several",
    "length characters": "more than a limit",
    "lengths[-1] words": "more than a limit",
    "limit bytes": "a limit",
    "LIMITS.expanded_bytes bytes": "a limit",
    "LIMITS.line_length characters": "a limit",
    "LIMITS.ratio times": "a limit",
    "numbers[id(option)] times": "two and more",
    "longest characters": "more than a limit",
    "min_count times": "two and more",
    "most characters": "a limit",
    "most lines": "a limit",
    "nbest sentences": "none and less",
    "roots tokens": "none or several",
    "len(text) characters": "more than a limit",
    "units characters": "more than a limit",
    "tokens / elapsed tokens": "a rate",
    "_DEATHS times": "ten",
    "words words": "of a bag, which has more than one",
    "words different words": "more than a limit",
    "answers.tags tags": "a kind",
    "agreement.scope words": "a kind",
    "named words": "a name",
    "document words": "a mean",
    "total pairs": "more than a limit",
    "len(forms) different words": "more than a limit",
    "number sentences": "as they were asked for, in a record",
    "written_lengths(self.lengths) words": "lengths",
}


def by_hand(text: str) -> Iterator[str]:
    """Yield what stands before a plural in the f-strings of a module, with the plural."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant):
                found = _PLURAL.match(str(after.value))
                counted = ast.unparse(value.value)
                if found and not counted.startswith("spell("):  # the value of an option
                    yield counted + found[0]


def test_numbers_in_messages_go_with_their_nouns() -> None:
    """`sentgen.output.wording.quantity` knows "1 tree"; what is written by hand says "1 trees"."""
    modules = [path for room in ("sentgen", "schema") for path in (ROOT / room).rglob("*.py")]
    texts = (path.read_text("utf-8") for path in modules)
    # Most have none, not even behind the quotes of a next string, and parsing them takes longest.
    found = {one for text in texts if _MAY_BE.search(text) for one in by_hand(text)}

    assert sorted(found - NEVER_ONE.keys()) == []
    assert sorted(NEVER_ONE.keys() - found) == []


def test_numbers_in_templates_go_with_their_nouns() -> None:
    """The same for pages and reports, where it is a filter."""
    by_hand = re.compile(rf"\}}\}}{_PLURAL.pattern}")
    pages = [path for path in (ROOT / "sentgen").rglob("*.j2") if by_hand.search(path.read_text("utf-8"))]

    assert pages == []


def test_one_of_each(filled: Sentgen, tmp_path: Path) -> None:
    """Messages of several commands about one thing."""
    (tmp_path / "one.lines").write_text("word\n")
    filled("ingest", "one.lines", "--corpus", "one")

    said = filled("freq", "--corpus", "one", "--limit", "1", "--parquet", "f.parquet").err
    assert "f.parquet: 1 row\n" in said
    ordered = filled("regenerate", "--model", "pets", "-a", "ab", "dog the", "--conllu", "t.conllu")
    assert "t.conllu: 1 tree\n" in ordered.err
    assert filled("models", "build", "one", "--corpus", "one", "--order", "1").err.endswith(
        "words, 1 token\n"
    )
    assert filled("corpora", "remove", "one", "--yes").out == "removed one: 1 sentence, 1 token\n"


def test_what_was_given_stays_as_it_is(filled: Sentgen) -> None:
    """An option is named as it is given here, and what a message quotes is not looked at."""
    name = "`order` {order}"

    refused(filled("models", "show", name), f"no model '{name}'")
    assert name in filled("ngrams", name).err
    assert "or --ignore-case?" in filled("ngrams", "DOG").err
