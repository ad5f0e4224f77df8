"""Examples to begin with, made of words and sentences of the snapshot that is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sentgen.server.pages.page import Asking

#: Words that are looked at; letters that a word has, and that those have which say more than the others.
_WORDS, _LETTERS, _TELLING = 200, range(1, 25), 6
_MOST = 6
#: Documents that are looked at; sentences of one that is neither too short to say something nor too long.
_DOCUMENTS, _SENTENCES = 500, range(4, 13)
#: Words of a sentence that is put in order.
_TOKENS = range(5, 16)


@dataclass(frozen=True, slots=True)
class PageExample:
    """Something to begin with: what it is called, and the parameters of its page."""

    name: str
    parameters: Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class ExamplePassage:
    """The first sentences of a document, and the words of one of them; ``tree`` says whether it has one."""

    corpus: str
    document: str
    sentences: Sequence[str]
    words: Sequence[str]
    tree: bool


async def words(ask: Asking, corpora: Sequence[str] = (), name: str = "word") -> list[PageExample]:
    """Return frequent words of some corpora or of all; ``name`` is the parameter that takes one."""
    answer = await ask("ngrams", pattern="*", corpus=list(corpora), limit=_WORDS)
    # What is no word has signs in it: punctuation, and the ends of sentences.
    forms = [row["w1"] for row in answer.rows if row["w1"].isalpha() and len(row["w1"]) in _LETTERS]
    telling = [form for form in forms if len(form) >= _TELLING]
    return [PageExample(form, {name: form}) for form in (telling or forms)[:_MOST]]


async def passage(ask: Asking) -> ExamplePassage | None:
    """Return a short document of the first corpus; None if there is none."""
    documents = (await ask("documents", limit=_DOCUMENTS)).rows
    if not documents:
        return None
    chosen = next((row for row in documents if row["sentences"] in _SENTENCES), documents[0])
    source = {"corpus": chosen["corpus"], "document": chosen["document"]}
    sentences = (await ask("sentences", **source, limit=_SENTENCES[0])).rows
    if not sentences:
        return None
    ordered = next((row for row in sentences if row["length"] in _TOKENS), sentences[0])
    answer = await ask("sentence", **source, sentence=ordered["sentence"])
    forms = [row["form"] for row in answer.rows]
    return ExamplePassage(
        **source, sentences=[row["text"] for row in sentences], words=forms, tree=bool(answer.more.get("svg"))
    )


def halves(sentences: Sequence[str]) -> str:
    """Return a summary in the words of a document: the begin of its first sentence, the end of its last one.

    >>> halves(["Rain flooded the camp.", "It rained.", "Trucks brought clean water."])
    'Rain flooded clean water.'
    """
    first, last = sentences[0].split(), sentences[-1].split()
    return " ".join(chain(first[: (len(first) + 1) // 2], last[len(last) // 2 :]))
