"""Explanations why nothing was found: values of a question that never occur, and similar ones that do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unicodedata import normalize

from sqlalchemy import Connection

from sentgen.case_folding import fold, plain, plain_text
from sentgen.errors import spell
from sentgen.lookups.base.attributes import COLUMNS, Test, Value
from sentgen.lookups.base.cache import id_of
from sentgen.lookups.base.patterns import (
    ANY,
    TokenPattern,
    counted_tag,
    glob,
    loose,
    tag_among,
    word_among,
)
from sentgen.lookups.base.selection import Selection
from sentgen.lookups.base.statement import Answer, Bindings, Statement, any_row, where
from sentgen.lookups.cql.written import tokens_of
from sentgen.options import TRAIN
from sentgen.output.wording import either, in_other_characters, looks, near
from sentgen.schema.engine import connection_cache
from sentgen.schema.tables.corpus import RESERVED_TAGS, RESERVED_WORDS

#: The attribute of a tag of the kind, upos or xpos, with which the dependencies of a corpus are counted.
COUNTED = "tag"
_MOST = 3
#: Words with characters beyond ASCII that are compared: those that were read first.
_MOST_LOOKED_AT = 100_000
#: Values that are looked up: the first ones, as a question may name thousands.
_MOST_VALUES = 20
#: The shortest words that may be misspelled by one letter, and by two.
_ONE_SLIP, _TWO_SLIPS = 4, 6

_LABELS = """\
select named.{name}, count(*) as count
from token{join}
join {table} as named on named.id = {column}{conditions}
group by named.{name}
order by count(*) desc, named.{name}"""
_JOIN_CORPUS = "\njoin corpus on corpus.id = token.corpus_id"
_NO_SENTENCE = "no sentence meets the condition"
#: Signs for an apostrophe.
_APOSTROPHES = "'’ʼ"
#: Stands in `Answer.near` for the option that ignores case, which hints spell.
_IGNORE_CASE = "--ignore-case"
#: How to get attributes of tokens other than their forms.
PARSE = f"a parser gives them ({TRAIN}): sentgen ingest PATH --corpus NAME --replace --parser PARSER"

_WORDS = """\
select id, form
from word
where {matches}
  and id in (select {column} from {table}{conditions})
order by id
limit {most}"""
#: Words that may look the same, that differ in case only, and that are one or two misspelled letters away.
_NEAR = f"""\
select id, form, {{alike}} as alike, {{same}} as same, damerau_levenshtein(plain, $plain) as slips
from (select id, form, {plain("form")} as plain from word)
where ({{alike}} or {{same}} or {{slip}})
  and id in (select {{column}} from {{table}}{{conditions}})
order by id"""
#: A slip is a letter too many or too few, two letters that changed places, and in longer words another letter
#: in the place of any but the first; *rent* for *went* is another word. Slips are counted last, as that takes
#: longest.
_SLIP = f"""\
case when abs(length(form) - length($plain)) <= $slips and regexp_matches(plain, $pieces)
    and (
      length(form) <> length($plain)
      or list_sort(string_split(plain, '')) = list_sort(string_split($plain, ''))
      or (length($plain) > {_ONE_SLIP} and plain[1] = $plain[1])
    )
    then damerau_levenshtein(plain, $plain) <= $slips else false end"""
_NOT_ASCII = "strlen(form) <> length(form)"


@dataclass(frozen=True, slots=True)
class QuestionValue:
    """A value that a question names: a pattern of an attribute, or of `COUNTED`.

    ``prefix`` is the text before the pattern in the question, such as ``upos:``. For regular expressions
    (``regex``), only values that look the same are suggested.
    """

    attribute: str
    pattern: str
    prefix: str = ""
    regex: bool = False

    @classmethod
    def of_token(cls, token: TokenPattern) -> QuestionValue:
        """Return the value in a token pattern, without a tag after a slash, which the store has."""
        return cls(token.attribute, token.pattern, "" if token.attribute == "word" else f"{token.attribute}:")

    @classmethod
    def of_tests(cls, attribute: str, prefix: str, values: Iterable[Test]) -> list[QuestionValue]:
        """Return the values in tests of an attribute, as word patterns: a star matches any characters."""
        given = [(text, value.regex) for value in values if isinstance(value, Value) for text in value.texts]
        texts = [text for text, regex in given if not regex]
        escaped = [text.replace("\\", "\\\\").replace("*", "\\*") for text in texts]
        patterns = [text if text == "?" else text.replace("?", "\\?") for text in escaped]
        return [
            *(cls(attribute, pattern, prefix) for pattern in patterns),
            *(cls(attribute, text, prefix, regex=True) for text, regex in given if regex),
        ]


def explain_absence(
    connection: Connection,
    answer: Answer,
    selection: Selection,
    values: Sequence[QuestionValue],
    *,
    trees: bool = False,
    within: bool = False,
    of_tokens: bool = False,
) -> Answer:
    """Add hints to an answer without rows: the values that never occur, and similar ones that do.

    Args:
        selection: the corpora and sentences of the question.
        values: values that the question names.
        trees: whether the question is about dependency trees.
        within: whether the answer says that something with a value is missing, and not the value itself.
        of_tokens: whether a word of the question is a token, and never a word that is several tokens.
    """
    if not answer.is_empty:
        return answer
    searched = _AbsenceSearch(connection, selection)
    everything = len(values) == 1 and values[0].pattern == ANY
    if everything:
        answer = replace(answer, missing=f"{values[0].attribute} to count")
    # If the condition selects no sentence, every value would be reported as missing.
    if selection.condition and (reasons := searched.of_condition()):
        if everything:
            answer = replace(answer, missing="sentence that meets the condition")
            reasons = [reason for reason in reasons if reason != _NO_SENTENCE]
        return replace(answer, hints=tuple(dict.fromkeys(reasons)))
    if trees and no_trees(connection, selection):
        return replace(answer, missing="trees in these corpora", hints=(PARSE,))
    named = [other for other in values if other.pattern not in (ANY, *RESERVED_WORDS, *RESERVED_TAGS)]
    if everything and values[0].attribute != "word":
        named = [*values]
    hints = dict[str | None, None]()
    near_values = dict[str, list[str]]()
    for value in named[:_MOST_VALUES]:
        missing = searched.missing(value)
        if missing is None:
            if of_tokens and (tokens := searched.tokens(value)):
                hints[f"{value.pattern} is several tokens, and these are counted: {tokens}"] = None
            continue
        said_of, alternatives = missing
        # A tag of another kind needs more of a hint than a similar value.
        if alternatives and not said_of:
            near_values[value.pattern] = [word.removeprefix(value.prefix) for word in alternatives]
        # The answer names the value already, unless there are several.
        if not said_of and (within or len(named) > 1):
            said_of = f"{value.prefix}{value.pattern} never occurs"
        # The object, not its text: a word of a corpus may look the same.
        named_so = [spell("ignore_case") if word is _IGNORE_CASE else word for word in alternatives]
        question = f"did you mean {either(named_so)}?" if alternatives else ""
        bare = (word.removeprefix(value.prefix) for word in alternatives)
        question += in_other_characters(value.pattern, bare)
        hints[", ".join(filter(None, (said_of, question)))] = None
    return replace(answer, hints=tuple(filter(None, hints)), near=near_values)


def no_trees(connection: Connection, selection: Selection) -> bool:
    """Return whether there are tokens, and none of them has a head."""
    # The corpora of a store that nobody can change are checked once.
    known = connection_cache(connection) if selection.condition is None else {}
    key = no_trees, selection.names

    def there(condition: str) -> bool:
        bindings = Bindings()
        return any_row(connection, "token", [condition, *selection.of_tokens(bindings)], bindings)

    if key not in known:
        known[key] = there("true") and not there("head > 0")
    return bool(known[key])


def _without(attribute: str) -> str:
    """Return the message that no token has an attribute, and, but for words, how a parser adds it."""
    return f"these corpora have no {attribute}" + ("" if attribute == "word" else f"; {PARSE}")


def _matches(labels: Iterable[str], pattern: str) -> list[str]:
    return [label for label in labels if glob(pattern).matches(label)]


@dataclass(frozen=True, slots=True)
class _AbsenceSearch:
    """Looks up what occurs in the corpora in which nothing was found."""

    connection: Connection
    selection: Selection
    _others: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict)

    def of_condition(self) -> list[str]:
        """Return why no sentence meets the condition on metadata; empty if some sentence does."""
        assert self.selection.condition is not None
        if hints := self.selection.condition.hints(self.connection):
            return hints
        return [] if self._occurs(QuestionValue("word", ANY)) else [_NO_SENTENCE]

    def missing(self, value: QuestionValue) -> tuple[str, list[str]] | None:
        """Return the message on a value that never occurs, and similar values; None if the value occurs."""
        if value.regex:
            alike = self._composed_alike(value) if value.attribute in ("word", "lemma") else []
            return ("", alike) if alike else None
        if value.attribute in ("word", "lemma"):
            if self._occurs(value) or self.tokens(value):
                return None
            there = self._occurs(replace(value, pattern=ANY))
            return ("", self._near_words(value)) if there else (_without(value.attribute), [])
        labels = self._labels(value.attribute)
        return None if _matches(labels, value.pattern) else self._near_labels(value, labels)

    def tokens(self, value: QuestionValue) -> str:
        """Return the tokens of a word that is several tokens, as text; empty for other words."""
        wanted = glob(value.pattern)
        if value.attribute != "word" or value.regex or wanted.wild:
            return ""
        return tokens_of(self.connection, Value((wanted.text,)), self.selection)

    def _near_labels(self, value: QuestionValue, labels: Sequence[str]) -> tuple[str, list[str]]:
        if not labels:
            return _without("tags" if value.attribute == COUNTED else value.attribute), []
        alike = {fold(label): label for label in reversed(labels)}
        if same := _matches(alike, fold(value.pattern)):
            return "", [f"{value.prefix}{alike[name]}" for name in same[:_MOST]]
        others = ("upos", "xpos") if value.attribute in ("upos", "xpos", COUNTED) else ()
        for other in others:
            matches = _matches(self._labels(other), value.pattern)
            if other != value.attribute and matches:
                return self._of_other_kind(value, other, matches)
        return "", [f"{value.prefix}{name}" for name in near(value.pattern, labels, _MOST)]

    def _of_other_kind(self, value: QuestionValue, other: str, names: Sequence[str]) -> tuple[str, list[str]]:
        """Return the message that a tag is of the other kind, and what to ask for instead.

        Where dependencies are counted by tags, these are the most frequent tags of its tokens.
        """
        text = f"{value.pattern} is a tag of {other}"
        if value.attribute != COUNTED:
            # In lists of frequencies, an option names the attribute instead of a prefix.
            alternatives = (
                [f"{other}:{name}" for name in names[:_MOST]] if value.prefix else [f"{spell('by')} {other}"]
            )
            return text, alternatives
        bindings = Bindings()
        condition = tag_among(f"token.{COLUMNS[other][0]}", value.pattern, bindings)
        together = self._labels(COUNTED, condition, bindings)
        counted = "xpos" if other == "upos" else "upos"
        return f"{text}, and these corpora count dependencies by {counted}", together[:_MOST]

    def _labels(self, attribute: str, condition: str = "", bindings: Bindings | None = None) -> list[str]:
        """Return the values of an attribute of the tokens that meet a condition, the most frequent first."""
        bindings = Bindings() if bindings is None else bindings
        join, column, table, name = _JOIN_CORPUS, counted_tag("token"), "tag", "name"
        if attribute != COUNTED:
            column, table, name = COLUMNS[attribute]
            join, column = "", f"token.{column}"
        conditions = where([condition, *self.selection.of_tokens(bindings, "token")])
        text = _LABELS.format(join=join, column=column, table=table, name=name, conditions=conditions)
        return [str(label) for label in Statement(text, bindings).run(self.connection)[name].to_pylist()]

    def _occurs(self, value: QuestionValue) -> bool:
        wanted, bindings = glob(value.pattern), Bindings()
        exactly = not (wanted.wild or loose(value.pattern, self.selection))
        if exactly and id_of(self.connection, "word", wanted.text) is None:
            return False
        table, column, conditions = self._words_of(value.attribute, bindings)
        matches = word_among(column, value.pattern, bindings, self.selection)
        conditions = [matches or f"{column} is not null", *conditions]
        return any_row(self.connection, table, conditions, bindings)

    def _words_of(self, attribute: str, bindings: Bindings) -> tuple[str, str, list[str]]:
        """Return a table, its column with the words or lemmas of the corpora, and conditions on rows."""
        if attribute == "word" and self.selection.condition is None:
            # The table of counts is smaller: a large store has a thousand tokens for each word.
            return "ngram_1", "w1", self.selection.of_unigrams(bindings)
        return "token", COLUMNS[attribute][0], self.selection.of_tokens(bindings)

    def _words(self, attribute: str, matches: str, bindings: Bindings, most: int) -> list[tuple[int, str]]:
        """Return the ids and forms of words of the corpora that meet a condition, in the order of the ids."""
        table, column, conditions = self._words_of(attribute, bindings)
        chosen = where(conditions, "    ")
        text = _WORDS.format(matches=matches, table=table, column=column, conditions=chosen, most=most)
        rows = Statement(text, bindings).run(self.connection)
        return list(zip(rows["id"].to_pylist(), rows["form"].to_pylist(), strict=True))

    def _near_words(self, value: QuestionValue) -> list[str]:
        """Return words that look the same, else words that differ in case, else those of fewest slips."""
        rows = self._near(value)
        if forms := self._look_alikes(value, rows):
            return [f"{value.prefix}{form}" for form in forms]
        if forms := self._written_alike(value):
            return forms
        forms = [f"{value.prefix}{row['form']}" for row in rows if row["same"]][:_MOST]
        loosely = replace(self, selection=replace(self.selection, ignore_case=True))
        if forms or loosely.tokens(value):
            return [*forms, _IGNORE_CASE]
        slips = sorted((row for row in rows if not row["alike"]), key=lambda row: int(row["slips"]))
        fewest = [f"{value.prefix}{row['form']}" for row in slips[:_MOST]]
        return self._with_tag(value) or self._lemmas(value) or fewest

    def _near(self, value: QuestionValue) -> list[dict[str, Any]]:
        """Return the words of `_NEAR` in the order of their ids; only words with a letter can have slips."""
        word, size = plain_text(value.pattern), len(value.pattern)
        bindings = Bindings(plain=word)
        patterns = [plain_text(text) for text in (looks(value.pattern), value.pattern)]
        alike, same = (glob(text).condition("plain", bindings) for text in patterns)
        slips = not glob(value.pattern).wild and size >= _ONE_SLIP and any(map(str.isalpha, value.pattern))
        if slips:
            most = 2 if size >= _TWO_SLIPS else 1
            bindings.update(slips=most, pieces=pieces(word, most))
        table, column, conditions = self._words_of(value.attribute, bindings)
        text = _NEAR.format(
            alike=alike,
            same=same,
            slip=_SLIP if slips else "false",
            column=column,
            table=table,
            conditions=where(conditions, "    "),
        )
        return list(Statement(text, bindings).run(self.connection).to_pylist())

    def _look_alikes(self, value: QuestionValue, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return words that a pattern would match if all were written with the same characters."""
        same, cased = glob(fold(looks(value.pattern))), glob(fold(value.pattern))
        seen = [(row["id"], row["form"], fold(looks(row["form"]))) for row in rows if row["alike"]]
        alike = {number: form for number, form, look in [*seen, *self._other(value)] if same.matches(look)}
        # Words that differ in case only do not look the same: they are found by ignoring case.
        forms = [form for _, form in sorted(alike.items()) if not cased.matches(fold(form))]
        return forms[:_MOST]

    def _other(self, value: QuestionValue) -> list[tuple[int, str, str]]:
        """Return the id, form and look of words with characters beyond ASCII."""
        if value.attribute not in self._others:
            rows = self._words(value.attribute, _NOT_ASCII, Bindings(), _MOST_LOOKED_AT)
            self._others[value.attribute] = [(number, form, fold(looks(form))) for number, form in rows]
        return self._others[value.attribute]

    def _written_alike(self, value: QuestionValue) -> list[str]:
        """Return words of several tokens that differ in the sign for the apostrophe only."""
        plain_form = looks(value.pattern)
        spelled = dict.fromkeys(plain_form.replace("'", sign) for sign in _APOSTROPHES)
        spellings = [word for word in spelled if word != value.pattern]
        return [f"{value.prefix}{word}" for word in spellings if self.tokens(replace(value, pattern=word))]

    def _with_tag(self, value: QuestionValue) -> list[str]:
        """Return the pattern with its tag in capital letters, if the text behind the slash then is a tag."""
        stem, slash, tag = value.pattern.rpartition("/")
        if not (slash and stem and tag):
            return []
        tags = [name for kind in ("xpos", "upos") for name in self._labels(kind)]
        same = dict.fromkeys(name for name in tags if fold(name) == fold(tag))
        return [f"{value.prefix}{stem}/{name}" for name in same]

    def _lemmas(self, value: QuestionValue) -> list[str]:
        """Return the lemmas of a word that the question names as a lemma, such as *go* for *went*."""
        if value.attribute != "lemma":
            return []
        bindings = Bindings()
        wanted = glob(plain_text(value.pattern)).condition(plain("form"), bindings)
        form = f"word_id in (select id from word where {wanted})"
        return [f"{value.prefix}{lemma}" for lemma in self._labels("lemma", form, bindings)[:_MOST]]

    def _composed_alike(self, value: QuestionValue) -> list[str]:
        """Return words that a regular expression matches only if both are normalized to composed letters."""
        bindings = Bindings()
        wanted = Value((value.pattern,), regex=True, ignore_case=self.selection.loose)
        composed = replace(wanted, texts=(normalize("NFC", value.pattern),))
        conditions = composed.condition("nfc_normalize(form)", bindings), wanted.condition("form", bindings)
        forms = self._words(value.attribute, "\n  and not ".join(conditions), bindings, _MOST)
        return [f"{value.prefix}{form}" for _, form in forms]


def pieces(word: str, slips: int) -> str:
    """Return a regular expression that matches in all words that are at most so many slips away, up to 2.

    The word is cut into one piece more than there are slips, each of two letters at least: then one piece is
    unchanged, unless letters of two pieces changed places.

    >>> pieces("house", 1)
    'ho|huose|use'
    """
    ends = [len(word) * number // (slips + 1) for number in range(slips + 2)]
    parts = list[str]()
    for first in range(slips + 1):
        for last in range(first, slips + 1):
            letters = list(word)
            for end in ends[first + 1 : last + 1]:
                letters[end - 1], letters[end] = letters[end], letters[end - 1]
            parts.append("".join(letters[ends[first] : ends[last + 1]]))
    return "|".join(map(re.escape, parts))
