"""Write a corpus as CoNLL-U: sources in CoNLL-U are given back byte for byte, others become valid CoNLL-U.

The database writes the rows of sentences, for a range of sentences at a time, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from sentgen.corpus.comments import usual_letters, write_comments
from sentgen.corpus.readers import conllu
from sentgen.schema.store import fetch_arrow

#: Sentences of a range: some ten megabytes.
SENTENCES = 5_000
#: Sentences between two wanted ones up to which reading them all is faster than two queries.
_GAP = 1_000
_LINE_ENDS = str.maketrans("\t\n\r", "   ")

_SOURCES = """
select
    s.id,
    s.format,
    s.rejected,
    min(d.first_sentence) as first,
    max(d.first_sentence + d.sentences - 1) as last,
    coalesce(any_value(l.byte_order_mark), false) as byte_order_mark,
    coalesce(any_value(l.carriage_returns), false) as carriage_returns,
    coalesce(any_value(l.line_feeds), 2) as line_feeds
from source s
join document d on d.source_id = s.id
left join source_layout l on l.source_id = s.id
where s.corpus_id = $corpus
    and d.sentences > 0
group by all
order by first
"""

#: The strings of a token, by the ids in its row ``t``.
NAMES_OF_TOKENS = """\
join word w on w.id = t.word_id
    left join word l on l.id = t.lemma_id
    left join tag u on u.id = t.upos_id
    left join tag x on x.id = t.xpos_id
    left join tag f on f.id = t.feats_id
    left join tag r on r.id = t.deprel_id"""
#: Rows are sorted by the position of a token: first the token, then the empty nodes behind it, then the range
#: of the multiword token that begins with the next token.
_ROWS = f"""
with edge as (
    select
        e.sentence_id,
        e.position,
        e.minor,
        string_agg(
            e.head || if(e.head_minor > 0, '.' || e.head_minor, '') || ':' || r.name, '|' order by e.place
        ) as deps
    from enhanced_edge e
    join tag r on r.id = e.deprel_id
    where e.sentence_id between $first and $last
    group by e.sentence_id, e.position, e.minor
    union all
    select sentence_id, position, minor, deps
    from enhanced_cell
    where sentence_id between $first and $last
),
within as (
    select sentence_id, unnest(range("first", "last" + 1)) as position
    from multiword
    where sentence_id between $first and $last
),
line as (
    select
        t.sentence_id,
        t.position,
        0 as rank,
        0 as minor,
        concat_ws(
            chr(9), t.position, w.form, coalesce(nullif(l.form, ''), '_'), coalesce(u.name, '_'),
            coalesce(x.name, '_'), coalesce(f.name, '_'), coalesce(t.head::varchar, '_'),
            coalesce(r.name, '_'), coalesce(e.deps, '_'),
            coalesce(m.misc, if(t.space_after is false and i.position is null, 'SpaceAfter=No', '_'))
        ) as text
    from token t
    {NAMES_OF_TOKENS}
    left join edge e on e.sentence_id = t.sentence_id and e.position = t.position and e.minor = 0
    left join within i on i.sentence_id = t.sentence_id and i.position = t.position
    left join token_misc m on m.sentence_id = t.sentence_id and m.position = t.position
        and m.sentence_id between $first and $last
    where t.sentence_id between $first and $last
    union all
    select
        n.sentence_id,
        n.position,
        if(n.behind_range, 3, 1) as rank,
        n.minor,
        concat_ws(
            chr(9), n.position || '.' || n.minor, coalesce(n.form, '_'), coalesce(n.lemma, '_'),
            coalesce(n.upos, '_'), coalesce(n.xpos, '_'), coalesce(n.feats, '_'), coalesce(n.head, '_'),
            coalesce(n.deprel, '_'), coalesce(e.deps, '_'), coalesce(n.misc, '_')
        ) as text
    from empty_node n
    left join edge e on e.sentence_id = n.sentence_id and e.position = n.position and e.minor = n.minor
    where n.sentence_id between $first and $last
    union all
    select
        m.sentence_id,
        m."first" - 1 as position,
        2 as rank,
        0 as minor,
        concat_ws(
            chr(9), m."first" || '-' || m."last", m.form, coalesce(r.lemma, '_'), coalesce(r.upos, '_'),
            coalesce(r.xpos, '_'), coalesce(r.feats, '_'), coalesce(r.head, '_'), coalesce(r.deprel, '_'),
            coalesce(r.deps, '_'),
            coalesce(r.misc, if(r."first" is null and t.space_after is false, 'SpaceAfter=No', '_'))
        ) as text
    from multiword m
    join token t on t.sentence_id = m.sentence_id and t.position = m."last"
        and t.sentence_id between $first and $last
    left join multiword_row r on r.sentence_id = m.sentence_id and r."first" = m."first"
    where m.sentence_id between $first and $last
),
body as (
    select sentence_id, count(*) as size, string_agg(text, chr(10) order by position, rank, minor) as text
    from line
    group by sentence_id
)
select
    s.id,
    s.sent_id,
    s.text,
    s.metadata,
    s.line,
    d.name as document,
    d.first_sentence = s.id as first,
    l.comments,
    l.verbatim,
    body.size,
    body.text as body
from sentence s
join document d on d.id = s.document_id
join body on body.sentence_id = s.id
left join sentence_layout l on l.sentence_id = s.id
where s.id between $first and $last
order by s.id
"""


class _Source(NamedTuple):
    """A row of `_SOURCES`: a source."""

    id: int
    format: str
    rejected: int
    first: int
    last: int
    byte_order_mark: bool
    carriage_returns: bool
    line_feeds: int

    @property
    def is_verbatim(self) -> bool:
        """Whether all lines of the source are stored, so that line numbers say where blank lines were."""
        return self.format == conllu.READER.name and not self.rejected


class _Row(NamedTuple):
    """A row of `_ROWS`: a sentence."""

    id: int
    sent_id: str | None
    text: str | None
    metadata: str | None
    line: int
    document: str
    first: bool
    comments: str | None
    verbatim: str | None
    size: int
    body: str


def write_conllu(
    connection: Connection, corpus: Row[Any], _: tuple[int, int]
) -> tuple[Iterator[bytes], Iterator[str]]:
    """Return the blocks of a corpus as CoNLL-U, source by source, and notes on what is lost."""
    rows = fetch_arrow(connection, _SOURCES, {"corpus": corpus.id}).to_pylist()
    sources = [_Source(**row) for row in rows]
    return _sources(connection, sources), _lost(corpus.name, corpus.lowercase, sources)


def sentences_conllu(connection: Connection, numbers: Sequence[int]) -> Iterator[str]:
    """Yield the sentences with these numbers as CoNLL-U, each with the blank line that ends it.

    Args:
        numbers: ids of the sentences, ascending.
    """
    for first, last in _ranges(numbers):
        wanted = set(numbers)
        for sentence in _rows(connection, first, last):
            if sentence.id in wanted:
                yield "\n".join([*_comments(sentence, verbatim=False), sentence.body, "\n"])


def _rows(connection: Connection, first: int, last: int) -> Iterator[_Row]:
    rows = fetch_arrow(connection, _ROWS, {"first": first, "last": last})
    return (_Row(**row) for row in rows.to_pylist())


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges that contain all of some ascending numbers, and few others."""
    held: list[int] = []
    for number in numbers:
        if held and (number - held[-1] > _GAP or number - held[0] >= SENTENCES):
            yield held[0], held[-1]
            held = []
        held.append(number)
    if held:
        yield held[0], held[-1]


def _lost(name: str, lowercase: bool, sources: Sequence[_Source]) -> Iterator[str]:
    if lowercase:
        yield f"{name} is lower-cased, and so are its forms and lemmas here"
    if any(source.format == conllu.READER.name and source.rejected for source in sources):
        yield "sentences that were refused are not there"


def _sources(connection: Connection, sources: Sequence[_Source]) -> Iterator[bytes]:
    for number, source in enumerate(sources, 1):
        if source.byte_order_mark and number == 1:
            yield b"\xef\xbb\xbf"
        for text in _texts(connection, source, last=number == len(sources)):
            yield (text.replace("\n", "\r\n") if source.carriage_returns else text).encode()


def _texts(connection: Connection, source: _Source, *, last: bool) -> Iterator[str]:
    """Yield the text of a source, a range of sentences at a time."""
    verbatim = source.is_verbatim
    end = 0
    for first in range(source.first, source.last + 1, SENTENCES):
        until = min(first + SENTENCES - 1, source.last)
        parts = []
        for sentence in _rows(connection, first, until):
            comments = _comments(sentence, verbatim=verbatim)
            # Lines count from 1: the line before the first one is 0.
            gap = sentence.line - max(end, 1) if verbatim else 2 * bool(end)
            parts.append("\n" * gap + "\n".join([*comments, sentence.body]))
            end = sentence.line + len(comments) + sentence.size - 1
        yield "".join(parts)
    # Else the next source would become part of the last sentence.
    yield "\n" * (source.line_feeds if last else max(2, source.line_feeds))


def _comments(sentence: _Row, *, verbatim: bool) -> list[str]:
    metadata = (sentence.metadata or "").split("\n")
    if not verbatim:
        metadata = [comment.translate(_LINE_ENDS) for comment in metadata]
    letters = sentence.comments
    if letters is None:
        letters = usual_letters(
            document=sentence.first,
            sent_id=bool(sentence.sent_id),
            text=bool(sentence.text),
            metadata=len(metadata) if sentence.metadata else 0,
        )
    text = sentence.text or ""
    return list(
        write_comments(
            letters,
            document=sentence.document,
            sent_id=sentence.sent_id or "",
            text=text if verbatim else text.translate(_LINE_ENDS),
            metadata=metadata,
            verbatim=(sentence.verbatim or "").split("\n"),
        )
    )
