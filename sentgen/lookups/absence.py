"""Why nothing was found: what of a question never occurs by itself, and what comes near to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

from sqlalchemy import Connection

from sentgen.case_folding import fold, folded
from sentgen.lookups.attributes import COLUMNS, Value
from sentgen.lookups.cql.written import tokens_of
from sentgen.lookups.patterns import ANY, TokenPattern, counted_tag, glob, tag_among, word_among
from sentgen.lookups.selection import Selection
from sentgen.lookups.statement import Answer, Bindings, Statement, where
from sentgen.output.look_alikes import in_other_characters, looks
from sentgen.output.wording import either, near
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_TAGS, RESERVED_WORDS

#: The attribute of a tag that is of the kind with which the dependencies of a corpus are counted.
COUNTED = "tag"
_MOST = 3
#: Words of other characters than ASCII that are looked at, those that were read first.
_MOST_LOOKED_AT = 100_000
#: Values that are looked at, the first ones: a question may name thousands, and each is looked for.
_MOST_VALUES = 20
#: Letters that a word has at least to be taken for a slip of one letter, and of two.
_ONE_SLIP, _TWO_SLIPS = 4, 6

_LABELS = """\
select tag.name, count(*) as count
from token{join}
join tag on tag.id = {column}{conditions}
group by tag.name
order by count(*) desc, tag.name"""
_NO_SENTENCE = "no sentence meets the condition"
#: Signs for an apostrophe.
_APOSTROPHES = "'’ʼ"
#: What gives tokens more than their forms.
PARSE = "a parser gives them: sentgen ingest PATH --corpus NAME --replace --parser PARSER"
_JOIN_CORPUS = "\njoin corpus on corpus.id = token.corpus_id"

_OCCURS = "select 1 from {table}{conditions} limit 1"
_LOOKED_AT = """\
select form
from word
where (strlen(form) <> length(form) or {matches})
  and id in (select {column} from {table}{conditions})
order by id
limit {most}"""
_LEMMAS = """\
select word.form
from token
join word on word.id = token.lemma_id{conditions}
group by word.form
order by count(*) desc, word.form
limit {most}"""
#: What is taken for a slip: a letter too many or too few, two that changed places, and in longer words one
#: that is another, but for the first; *rent* for *went* is another word.
_SLIP = f"""\
length(form) <> length($word)
    or list_sort(string_split({folded("form")}, '')) = list_sort(string_split($folded, ''))
    or (length($word) > {_ONE_SLIP} and {folded("form")}[1] = $folded[1])"""
_NEAR = """\
select form
from word
where {near}
  and id in (select {column} from {table}{conditions})
order by {order}id
limit {most}"""


@dataclass(frozen=True, slots=True)
class QuestionValue:
    """One thing that a question names: a pattern of an attribute, or of `COUNTED`.

    ``prefix`` is what stands before it in the question, such as ``upos:``; of regular expressions (``regex``)
    it is only said what looks as they have it.
    """

    attribute: str
    pattern: str
    prefix: str = ""
    regex: bool = False


def values_of(tokens: Iterable[TokenPattern]) -> list[QuestionValue]:
    """Return what token patterns name, apart from tags after a slash, which the store is known to have."""
    return [
        QuestionValue(one.attribute, one.pattern, "" if one.attribute == "word" else f"{one.attribute}:")
        for one in tokens
    ]


def explained(
    connection: Connection,
    answer: Answer,
    selection: Selection,
    values: Sequence[QuestionValue],
    *,
    trees: bool = False,
    within: bool = False,
    of_tokens: bool = False,
) -> Answer:
    """Say of an answer that found nothing which of the values never occur, and what they could have been.

    Args:
        connection: the store.
        answer: what was found.
        selection: of the corpora.
        values: that were asked for.
        trees: whether they were looked for in trees.
        within: whether the answer says that something is missing with a value, and not that the value is.
        of_tokens: whether words are tokens there, and not what is written so in several.
    """
    if not answer.nothing:
        return answer
    everything = len(values) == 1 and values[0].pattern == ANY
    if everything:
        answer = replace(answer, missing=f"{values[0].attribute} to count")
    # Where no sentence is chosen, every value would be said to be missing.
    if selection.condition and (reasons := _of_condition(connection, selection)):
        if everything:
            answer = replace(answer, missing="sentence that meets the condition")
            reasons = [one for one in reasons if one != _NO_SENTENCE]
        return replace(answer, hints=tuple(dict.fromkeys(reasons)))
    if trees and no_trees(connection, selection):
        return replace(answer, missing="trees in these corpora", hints=(PARSE,))
    asked = [one for one in values if one.pattern not in (ANY, *RESERVED_WORDS, *RESERVED_TAGS)]
    if everything and values[0].attribute != "word":
        asked = [*values]
    hints = dict[str | None, None]()
    near = dict[str, list[str]]()
    for value in asked[:_MOST_VALUES]:
        missing = _missing(connection, selection, value)
        if missing is None:
            if of_tokens and (tokens := _tokens(connection, selection, value)):
                hints[f"{value.pattern} is several tokens, and these are counted: {tokens}"] = None
            continue
        told, meant = missing
        # A tag of another kind takes more than another value.
        if meant and not told:
            near[value.pattern] = [one.removeprefix(value.prefix) for one in meant]
        # What was asked for stands in the answer already; of several things, one has to be named.
        if not told and (within or len(asked) > 1):
            told = f"{value.prefix}{value.pattern} never occurs"
        question = f"did you mean {either(meant)}?" if meant else ""
        question += in_other_characters(value.pattern, (one.removeprefix(value.prefix) for one in meant))
        hints[", ".join(filter(None, (told, question)))] = None
    return replace(answer, hints=tuple(filter(None, hints)), near=near)


def _of_condition(connection: Connection, selection: Selection) -> list[str]:
    """Return why no sentence meets the condition; nothing if one does."""
    assert selection.condition is not None
    if hints := selection.condition.hints(connection):
        return hints
    some = _occurs(connection, selection, QuestionValue("word", ANY))
    return [] if some else [_NO_SENTENCE]


def no_trees(connection: Connection, selection: Selection) -> bool:
    """Return whether there are tokens, and none of them has a head."""

    def there(condition: str) -> bool:
        bindings = Bindings()
        conditions = where([condition, *selection.of_tokens(bindings)])
        text = _OCCURS.format(table="token", conditions=conditions)
        return Statement(text, bindings).value(connection) is not None

    return there("true") and not there("head > 0")


def _missing(
    connection: Connection, selection: Selection, value: QuestionValue
) -> tuple[str, list[str]] | None:
    """Return what is to be said of a value that never occurs, and what may be meant; None if it occurs."""
    if value.regex:
        alike = _composed_alike(connection, selection, value) if value.attribute in ("word", "lemma") else []
        return ("", alike) if alike else None
    if value.attribute in ("word", "lemma"):
        if _occurs(connection, selection, value) or _tokens(connection, selection, value):
            return None
        if _occurs(connection, selection, replace(value, pattern=ANY)):
            return "", _near_words(connection, selection, value)
        return _without(value.attribute), []
    labels = _labels(connection, selection, value.attribute)
    if _matching(labels, value.pattern):
        return None
    return _near_labels(connection, selection, value, labels)


def _without(attribute: str) -> str:
    """Say that tokens have nothing of an attribute, and what gives it; words are there without a parser."""
    return f"these corpora have no {attribute}" + ("" if attribute == "word" else f"; {PARSE}")


def _near_labels(
    connection: Connection, selection: Selection, value: QuestionValue, labels: Sequence[str]
) -> tuple[str, list[str]]:
    """Return what is to be said of a label that there is not, and labels that may be meant."""
    if not labels:
        return _without("tags" if value.attribute == COUNTED else value.attribute), []
    alike = {fold(label): label for label in reversed(labels)}
    if same := _matching(list(alike), fold(value.pattern)):
        return "", [f"{value.prefix}{alike[name]}" for name in same[:_MOST]]
    if value.attribute in ("upos", "xpos", COUNTED):
        for other in ("upos", "xpos"):
            found = _matching(_labels(connection, selection, other), value.pattern)
            if other != value.attribute and found:
                return _of_other_kind(connection, selection, value, other, found)
    return "", [f"{value.prefix}{name}" for name in near(value.pattern, labels, _MOST)]


def _of_other_kind(
    connection: Connection, selection: Selection, value: QuestionValue, other: str, found: Sequence[str]
) -> tuple[str, list[str]]:
    """Say of a tag that it is one of the other kind; as tags are counted, name those that go with it."""
    told = f"{value.pattern} is a tag of {other}"
    if value.attribute != COUNTED:
        # A list of frequencies has no prefixes, but says what it lists.
        near = [f"{other}:{name}" for name in found[:_MOST]] if value.prefix else [f"--by {other}"]
        return told, near
    bindings = Bindings()
    condition = tag_among(f"token.{COLUMNS[other][0]}", value.pattern, bindings)
    together = _labels(connection, selection, COUNTED, condition, bindings)
    counted = "xpos" if other == "upos" else "upos"
    return f"{told}, and these corpora count dependencies by {counted}", together[:_MOST]


def _labels(
    connection: Connection,
    selection: Selection,
    attribute: str,
    condition: str = "",
    bindings: Bindings | None = None,
) -> list[str]:
    """Return the labels of an attribute of the tokens that meet a condition, most frequent first."""
    bindings = Bindings() if bindings is None else bindings
    counted = attribute == COUNTED
    conditions = [*([condition] if condition else []), *selection.of_tokens(bindings, "token")]
    text = _LABELS.format(
        column=counted_tag("token") if counted else f"token.{COLUMNS[attribute][0]}",
        join=_JOIN_CORPUS if counted else "",
        conditions=where(conditions),
    )
    return [str(name) for name in Statement(text, bindings).run(connection)["name"].to_pylist()]


def _matching(labels: Sequence[str], pattern: str) -> list[str]:
    """Return the labels that a pattern matches."""
    return [label for label in labels if glob(pattern).matches(label)]


def _occurs(connection: Connection, selection: Selection, value: QuestionValue) -> bool:
    bindings = Bindings()
    table, column, conditions = _words_of(selection, value, bindings)
    matches = word_among(column, value.pattern, bindings, selection)
    text = _OCCURS.format(table=table, conditions=where([matches or f"{column} is not null", *conditions]))
    return Statement(text, bindings).value(connection) is not None


def _tokens(connection: Connection, selection: Selection, value: QuestionValue) -> str:
    """Return the tokens that a word is, if it is several; empty if not."""
    asked = glob(value.pattern)
    if value.attribute != "word" or value.regex or asked.wild:
        return ""
    return tokens_of(connection, Value((asked.text,)), selection)


def _words_of(selection: Selection, value: QuestionValue, bindings: Bindings) -> tuple[str, str, list[str]]:
    """Return the table and the column with the words or lemmas of the corpora, and conditions on its rows."""
    if value.attribute == "word" and selection.condition is None:
        # Counted already: a large store has a thousand tokens for each of its words.
        return "ngram_1", "w1", [f"w1 not in ({BOS}, {EOS})", *selection.of_segments(bindings)]
    return "token", COLUMNS[value.attribute][0], selection.of_tokens(bindings)


def _near_words(connection: Connection, selection: Selection, value: QuestionValue) -> list[str]:
    """Return words that look the same, else differ in capital letters only, else have the fewest slips."""
    if found := _look_alikes(connection, selection, value) or _written_alike(connection, selection, value):
        return found
    bindings = Bindings()
    same = glob(value.pattern).condition("form", bindings, ignore_case=True)
    found = _words(connection, selection, value, same, "", bindings)
    if found or _tokens(connection, replace(selection, ignore_case=True), value):
        return [*found, "--ignore-case"]
    if found := _with_tag(connection, selection, value) or _lemmas(connection, selection, value):
        return found
    size = len(value.pattern)
    # Among numbers, everything is near.
    if glob(value.pattern).wild or size < _ONE_SLIP or not any(map(str.isalpha, value.pattern)):
        return []
    bindings = Bindings(word=value.pattern, folded=fold(value.pattern), slips=2 if size >= _TWO_SLIPS else 1)
    slips = f"damerau_levenshtein({folded('form')}, $folded)"
    near = f"abs(length(form) - length($word)) <= $slips\n  and {slips} <= $slips\n  and ({_SLIP})"
    return _words(connection, selection, value, near, f"{slips}, ", bindings)


def _look_alikes(connection: Connection, selection: Selection, value: QuestionValue) -> list[str]:
    """Return words that a pattern would match if all were written with the same characters."""
    asked_for = looks(value.pattern)
    bindings = Bindings()
    matches = glob(asked_for).condition("form", bindings, ignore_case=True)
    table, column, conditions = _words_of(selection, value, bindings)
    text = _LOOKED_AT.format(
        matches=matches,
        table=table,
        column=column,
        conditions=where(conditions, "    "),
        most=_MOST_LOOKED_AT,
    )
    forms = Statement(text, bindings).run(connection)["form"].to_pylist()
    same, cased = glob(fold(asked_for)), glob(fold(value.pattern))
    # What differs in capital letters alone does not look the same, and is found by ignoring case.
    found = [one for one in forms if same.matches(fold(looks(one))) and not cased.matches(fold(one))]
    return [f"{value.prefix}{form}" for form in found[:_MOST]]


def _written_alike(connection: Connection, selection: Selection, value: QuestionValue) -> list[str]:
    """Return words of several tokens that look the same, but for their apostrophes."""
    plain = looks(value.pattern)
    spelled = dict.fromkeys(plain.replace("'", one) for one in _APOSTROPHES)
    others = [one for one in spelled if one != value.pattern]
    return [
        f"{value.prefix}{one}"
        for one in others
        if _tokens(connection, selection, replace(value, pattern=one))
    ]


def _lemmas(connection: Connection, selection: Selection, value: QuestionValue) -> list[str]:
    """Return the lemmas of a word that was asked for as a lemma, such as *go* of *went*."""
    if value.attribute != "lemma":
        return []
    bindings = Bindings()
    form = glob(value.pattern).condition("form", bindings, ignore_case=True)
    conditions = [f"word_id in (select id from word where {form})", *selection.of_tokens(bindings)]
    text = _LEMMAS.format(conditions=where(conditions), most=_MOST)
    rows = Statement(text, bindings).run(connection)["form"].to_pylist()
    return [f"{value.prefix}{lemma}" for lemma in rows]


def _composed_alike(connection: Connection, selection: Selection, value: QuestionValue) -> list[str]:
    """Return words that a regular expression matches if both have composed letters, and not as they are."""
    bindings = Bindings()
    asked = Value((value.pattern,), regex=True, ignore_case=selection.loose)
    composed = replace(asked, texts=(normalize("NFC", value.pattern),))
    near = composed.condition("nfc_normalize(form)", bindings), asked.condition("form", bindings)
    return _words(connection, selection, value, "\n  and not ".join(near), "", bindings)


def _with_tag(connection: Connection, selection: Selection, value: QuestionValue) -> list[str]:
    """Return the word with its tag, if what follows a slash would be one in capital letters."""
    stem, slash, tag = value.pattern.rpartition("/")
    if not (slash and stem and tag):
        return []
    tags = [name for kind in ("xpos", "upos") for name in _labels(connection, selection, kind)]
    same = dict.fromkeys(name for name in tags if fold(name) == fold(tag))
    return [f"{value.prefix}{stem}/{name}" for name in same]


def _words(
    connection: Connection,
    selection: Selection,
    value: QuestionValue,
    near: str,
    order: str,
    bindings: Bindings,
) -> list[str]:
    table, column, conditions = _words_of(selection, value, bindings)
    text = _NEAR.format(
        near=near,
        table=table,
        column=column,
        conditions=where(conditions, "    "),
        order=order,
        most=_MOST,
    )
    return [f"{value.prefix}{form}" for form in Statement(text, bindings).run(connection)["form"].to_pylist()]
