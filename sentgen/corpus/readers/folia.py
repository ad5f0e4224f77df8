"""FoLiA: sentences, words with part of speech and lemma, paragraphs and the structure around them.

The file is a document. Elements of structure (`div`, `head`, `p`, `list`, `utt` and the like) become regions
with their attributes; text without words is split as raw text is. Of `correction`, the new words are read.
Other layers (entities, syntax, morphology), alternatives, and texts of other classes than `current` are left
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from sentgen.corpus.comments import comment_of, document_comment
from sentgen.corpus.encodings import UTF_8
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._flow import Flow
from sentgen.corpus.readers._xml import StrictElements, collapse_spaces, local_attributes, root_of, stem
from sentgen.corpus.readers.tei import WordMaker

ROOT = "FoLiA"
_TEXTS = ("text", "speech")
#: Elements of structure that become regions; a sentence ends with each.
_STRUCTURE = frozenset(
    """caption cell def div entry event ex figure head item label list note p part quote ref row speech table
    tablehead term text utt""".split()  # noqa: SIM905
)
#: Elements around words that are ignored, but not their content.
_AROUND = frozenset(("correction", "new", "current", "metadata"))
#: Attributes that are kept; annotators and dates of annotation are not.
_ATTRIBUTES = frozenset(("id", "class", "n", "speaker", "begintime", "endtime", "src"))
_CURRENT = (None, "current")


def read_file(file: BinaryIO, *, path: str, encoding: str = UTF_8) -> Iterator[Item]:
    """Yield the sentences of a FoLiA file; of paragraphs without words, their raw text.

    ``encoding`` is that of the file, if not the one that its declaration names.

    Raises:
        InputError: the file is no XML, or hostile.
    """
    return _Folia(path).read(file, encoding)


@dataclass(slots=True)
class _Open:
    """An open element, with its text, which is read if no element inside it has a text."""

    name: str
    text: str = ""
    line: int = 0
    filled: bool = False


class _Folia(StrictElements):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.flow = Flow(path, self.results)
        self.words = WordMaker()
        self.open: list[_Open] = []
        self.name = ""
        self.metadata: list[str] = []
        self.key = ""
        #: Attributes read so far of the open word.
        self.word: dict[str, str] | None = None
        #: Text of the open `t` or `meta`, and how many elements are open in it.
        self.parts: list[str] | None = None
        self.inside = 0

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        parent = self.open[-1].name if self.open else ""
        if self.parts is not None:
            self.inside += 1
            return
        if name == ROOT:
            self.name = local_attributes(attributes).get("id") or stem(self.path)
        elif name in ("t", "meta"):
            if attributes.get("class") not in _CURRENT:
                self.pass_over()
                return
            self.parts, self.key = [], attributes.get("id", "")
        elif self.word is not None and name in ("pos", "lemma"):
            self.word.setdefault(name, attributes.get("class", ""))
            self.pass_over()
            return
        elif name == "s":
            known = self._known_attributes(name, attributes)
            self.flow.begin_sentence(known.pop("id", ""), [comment_of(*item) for item in known.items()])
        elif name == "w":
            self.word = {"join": "right"} if attributes.get("space") == "no" else {}
        elif name in _STRUCTURE:
            if name in _TEXTS and parent == ROOT:
                self.flow.begin_document(self.name, self.metadata)
            self.flow.cut()
            self.flow.open_region(name, self._known_attributes(name, attributes))
        elif name not in _AROUND:
            self.pass_over()
            return
        self.open.append(_Open(name))

    def _known_attributes(self, name: str, attributes: Mapping[str, str]) -> dict[str, str]:
        return {
            key: value
            for key, value in self.region_attributes(name, attributes).items()
            if key in _ATTRIBUTES
        }

    def finish(self, name: str) -> None:
        if self.inside:
            self.inside -= 1
            return
        done = self.open.pop()
        parent = self.open[-1] if self.open else done
        if name in ("t", "meta"):
            text, self.parts = "".join(self.parts or ()), None
            if name == "t":
                parent.text, parent.line = parent.text or text, parent.line or done.line
            elif self.key and text.strip():
                self.metadata.append(document_comment(self.key, collapse_spaces(text)))
        elif name == "w":
            self.flow.word(
                self.words.word(self.word or {}, collapse_spaces(done.text)), done.line or self.line
            )
            self.word, parent.filled = None, True
        elif name == "s" or name in _STRUCTURE:
            self._finish_structure(name, done, parent)
        else:
            parent.text, parent.line = parent.text or done.text, parent.line or done.line
            parent.filled = parent.filled or done.filled

    def _finish_structure(self, name: str, done: _Open, parent: _Open) -> None:
        if done.text and not done.filled:
            self.flow.write(done.text, done.line)
        parent.filled = parent.filled or done.filled or bool(done.text)
        if name == "s":
            self.flow.end_sentence()
            return
        self.flow.cut()
        self.flow.close()
        if name in _TEXTS and parent.name == ROOT:
            self.flow.end_document()

    def write(self, text: str, line: int) -> None:
        if self.parts is not None:
            self.parts.append(text)
            self.open[-1].line = self.open[-1].line or line


READER = Reader(
    "folia",
    "3",
    description="FoLiA: sentences, words, parts of speech, lemmas, paragraphs",
    fits=lambda sample: root_of(sample) == ROOT,
    read_file=read_file,
    settings=("encoding",),
    distinct=True,
    extra="documents",
)
