"""Where the nodes of hits stand: the tokens that they are, and the parts of the text that these cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from sentgen.lookups.base.statement import Bindings, Statement

_FORMS = """\
with place as (
  select id, corpus, document, coalesce(sent_id, id::varchar) as sentence
  from v_sentences
  where corpus in $corpora
    and coalesce(sent_id, id::varchar) in $sentences
)
select token.sentence_id, any_value(place.corpus) as corpus, any_value(place.document) as document,
  any_value(place.sentence) as sentence, list(token.form order by token.position) as forms
from v_tokens as token
join place on place.id = token.sentence_id
where token.sentence_id in (select id from place)
group by token.sentence_id
order by token.sentence_id desc"""

#: One node in the column ``nodes`` of `sentgen.lookups.grew.matches.match`: its name, form and position.
_NODE = re.compile(r"(?:^|(?<= ))([^\s=]+)=(\S.*?)@(\d+)(?= |$)")


#: The names of a corpus, of a document in it, and of a sentence in that.
_SentenceNames = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Marks:
    """The nodes of one hit.

    Args:
        positions: of each node, by its name.
        parts: of the text that reaches from the first node to the last one, each with the names of the nodes
            that it is; a node whose form is not written as such (French *du* for *de le*) is none of them.
        sentence_id: of the sentence; 0 if it is not there.
    """

    positions: Mapping[str, int]
    parts: Sequence[tuple[str, str]]
    sentence_id: int


def marks_of(connection: Connection, hits: Sequence[Mapping[str, object]]) -> Iterator[Marks]:
    """Yield the marks of hits, rows of `sentgen.lookups.grew.matches.match`, in their order."""
    sentences = [(str(hit["corpus"]), str(hit["document"]), str(hit["sent_id"])) for hit in hits]
    forms = _forms(connection, sentences) if sentences else {}
    for sentence, hit in zip(sentences, hits, strict=True):
        yield _marks(hit, *forms.get(sentence, (0, [])))


def _forms(
    connection: Connection, sentences: Sequence[_SentenceNames]
) -> dict[_SentenceNames, tuple[int, list[str]]]:
    """Return the ids of sentences, and the forms of their tokens; of equal names, those of the first."""
    corpora, names = (sorted({sentence[part] for sentence in sentences}) for part in (0, 2))
    rows = Statement(_FORMS, Bindings(corpora=corpora, sentences=names)).run(connection).to_pylist()
    return {
        (row["corpus"], row["document"], row["sentence"]): (row["sentence_id"], row["forms"]) for row in rows
    }


def _marks(hit: Mapping[str, object], sentence_id: int, forms: Sequence[str]) -> Marks:
    nodes = {name: (form, int(number)) for name, form, number in _NODE.findall(str(hit["nodes"]))}
    # A form may look like a node; that of the token at its position decides.
    positions = {
        name: position
        for name, (form, position) in nodes.items()
        if 0 < position <= len(forms) and forms[position - 1] == form
    }
    return Marks(positions, tuple(_parts(str(hit["node"]), forms, positions)), sentence_id)


def _parts(text: str, forms: Sequence[str], positions: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Split a text at the tokens that are nodes."""
    names: dict[int, list[str]] = {}
    for name, position in positions.items():
        names.setdefault(position, []).append(name)
    done = at = 0
    for position in range(min(names, default=1), max(names, default=0) + 1):
        form = forms[position - 1]
        # Token by token, so that of equal words the right one is found.
        start = text.find(form, at)
        if start < 0 or text[at:start].strip():
            continue
        at = start + len(form)
        if position in names:
            if text[done:start]:
                yield text[done:start], ""
            yield form, " ".join(names[position])
            done = at
    if text[done:]:
        yield text[done:], ""
