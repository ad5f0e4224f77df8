"""N-grams by lemma or tag, of words only, and with numbers of documents, against counts in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from typing import Any

import pytest
from sqlalchemy import Connection

from sentgen.errors import InputError
from sentgen.lookups.ngram_search import Ngrams
from sentgen.lookups.statistics.frequencies import By
from sentgen.schema.store import raw

_TOKENS = """\
select document_id, sentence_id, form, list_value(word, lemma, upos, xpos, deprel)
from (
  select s.document_id, t.sentence_id, t.position, w.form, w.form as word, l.form as lemma, u.name as upos,
    x.name as xpos, d.name as deprel
  from token as t
  join sentence as s on s.id = t.sentence_id
  join word as w on w.id = t.word_id
  left join word as l on l.id = t.lemma_id
  left join tag as u on u.id = t.upos_id
  left join tag as x on x.id = t.xpos_id
  left join tag as d on d.id = t.deprel_id
)
order by sentence_id, position"""
_SIZE = 49

Row = tuple[Any, ...]


def by_hand(connection: Connection, question: Ngrams) -> list[Row]:
    """Count n-grams token by token."""
    column, order = [*By].index(question.by), len(question.pattern.split())
    sentences = defaultdict(list)
    for document, sentence, form, values in raw(connection).execute(_TOKENS).fetchall():
        item = values[column]
        is_word = any(letter.isalnum() for letter in form)
        sentences[document, sentence].append(
            (item.lower() if question.ignore_case else item, is_word or not question.words)
        )
    counts, contexts = Counter[Row](), Counter[Row]()
    documents = defaultdict(set)
    for (document, _), tokens in sentences.items():
        ends = not question.words
        items = [("<s>", ends), *tokens, ("</s>", ends)]
        for i in range(len(items)):
            if i + order <= len(items) and all(kept for _, kept in items[i : i + order]):
                gram = tuple(item for item, _ in items[i : i + order])
                counts[gram] += 1
                documents[gram].add(document)
            if all(kept for _, kept in items[i : i + max(order - 1, 1)]):
                contexts[tuple(item for item, _ in items[i : i + order - 1])] += 1
    if order == 1 and not question.words:
        contexts[()] -= len(sentences)
    found = [
        (
            *gram,
            count,
            *([len(documents[gram])] if question.min_documents else []),
            pytest.approx(1e6 * count / _SIZE),
            None if gram == ("<s>",) else pytest.approx(count / contexts[gram[:-1]]),
        )
        for gram, count in counts.items()
        if count >= question.min_count
        and len(documents[gram]) >= question.min_documents
        and all(map(fnmatchcase, gram, question.pattern.split()))
    ]
    return sorted(found, key=lambda row: (-row[order], row[:order]))


@pytest.mark.nightly(by_day=12)
@pytest.mark.parametrize("by", By)
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("pattern", ["*", "* *", "* * * *"])
def test_counted_token_by_token(by: By, words: bool, pattern: str, connection: Connection) -> None:
    """N-grams of all corpora agree with the counts; those of words are tested with documents and without."""
    for least in (1, 2) if by is By.WORD and len(pattern) > 3 else (0, 1, 2):
        question = Ngrams(pattern=pattern, by=by, words=words, min_documents=least, limit=0)

        rows = list(zip(*question.ask(connection).table.to_pydict().values(), strict=True))

        assert rows or least == 2
        assert rows == by_hand(connection, question)


@pytest.mark.parametrize(
    "question",
    [
        Ngrams(pattern="the *", by=By.LEMMA, ignore_case=True, limit=0),
        Ngrams(pattern="THE *", by=By.LEMMA, ignore_case=True, words=True, min_documents=2, limit=0),
        Ngrams(pattern="<s> D*", by=By.XPOS, limit=0),
        Ngrams(pattern="* VERB </s>", by=By.UPOS, min_count=2, ignore_case=True, limit=0),
        Ngrams(pattern="* det *", by=By.DEPREL, min_count=2, min_documents=2, limit=0),
    ],
)
def test_patterns_are_of_what_is_counted(question: Ngrams, connection: Connection) -> None:
    """Tags keep their case, also if that of words is ignored."""
    pattern = question.pattern.lower() if question.by is By.LEMMA else question.pattern
    alike = Ngrams(
        pattern=pattern,
        by=question.by,
        words=question.words,
        ignore_case=question.by is By.LEMMA,
        min_count=question.min_count,
        min_documents=question.min_documents,
    )

    rows = list(zip(*question.ask(connection).table.to_pydict().values(), strict=True))

    assert rows == by_hand(connection, alike)


def test_words_of_sentences_that_are_chosen(connection: Connection) -> None:
    """In d2, "the" is before "stock", "traders" and "dow", once each."""
    question = Ngrams(pattern="the *", words=True, where="document = d2", min_documents=1)

    assert question.ask(connection).table.to_pydict() == {
        "w1": ["the"] * 3,
        "w2": ["dow", "stock", "traders"],
        "count": [1] * 3,
        "documents": [1] * 3,
        "per_million": [pytest.approx(1e6 / 21)] * 3,
        "probability": [pytest.approx(1 / 3)] * 3,
    }


def test_ends_are_no_words(connection: Connection) -> None:
    with pytest.raises(InputError, match="</s> is no word; leave out"):
        Ngrams(pattern=". </s>", words=True).ask(connection)


def test_what_is_missing_is_named(connection: Connection) -> None:
    answer = Ngrams(pattern="VERBS *", by=By.UPOS, min_documents=3).ask(connection)

    assert answer.notes == ["no n-gram 'VERBS *' in at least 3 documents; did you mean VERB?"]
