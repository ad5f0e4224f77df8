"""TEI P5: texts with their structure, tokenised or not.

A `TEI` is a document; elements that hold text are regions of their names, with their attributes. Paragraphs,
headings, groups of lines, and the like end a sentence; lines (`l`) do not. `w` and `pc` are tokens as they
are, `s` is a sentence; other text is split as raw text is.

Of `choice` the corrected, regular, expanded form is taken, of `app` the lemma; `speaker` becomes an attribute
of its `sp`. Left out are `note` (unless it is asked for; then it stands behind its paragraph), `fw`, `desc`,
`figDesc`, `del`, readings (`rt`) and all outside `text`. `space` ends a word; `lb`, `pb` and the like end
none (but for `break="yes"`), and with `break="no"` no white space around them does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from sentgen.corpus.comments import said
from sentgen.corpus.encodings import UTF_8
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._flow import Flow, Word
from sentgen.corpus.readers._tei_header import Header, check_paths
from sentgen.corpus.readers._tei_words import DEPENDENCIES, WordMaker, take_links
from sentgen.corpus.readers._xml import Elements, named, read_xml, root_of, spaced, stem, with_names_written
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.errors import Rejection

ROOTS = ("TEI", "teiCorpus")
#: Elements with which a sentence ends.
_BLOCKS = frozenset(
    """ab address addrLine argument back body byline castGroup castItem castList cell closer dateline div
    div1 div2 div3 div4 div5 div6 div7 docAuthor docDate docEdition docImprint docTitle epigraph figure
    floatingText front group head imprimatur item label lg list listBibl opener p postscript row salute set
    signed sp table text titlePage titlePart trailer u""".split()  # noqa: SIM905
)
#: Elements with which a sentence ends unless they stand in one of those below.
_EITHER = frozenset(("seg", "stage", "quote", "q", "said", "cit", "bibl"))
_HOLDERS = frozenset(("p", "ab", "l", "head", "s", "seg", "q", "quote", "said", "hi"))
#: What is no text, or not the text.
_LEFT_OUT = frozenset(
    ("teiHeader", "fw", "figDesc", "desc", "del", "rt", "standOff", "spanGrp", "facsimile", "sourceDoc")
)
#: What is not taken of elements that say the same in several ways.
_ONE_OF = {"choice": frozenset(("sic", "orig", "abbr")), "app": frozenset(("rdg", "rdgGrp", "witDetail"))}
_EMPTY = frozenset(("lb", "pb", "cb", "gb", "milestone", "space", "anchor", "linkGrp", "link"))
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:-.*)?", re.DOTALL)


def read_file(
    file: BinaryIO, *, path: str, meta: Sequence[str] = (), notes: bool = False, encoding: str = UTF_8
) -> Iterator[Sentence | Rejection | RawText]:
    """Yield the texts of TEI, paragraph by paragraph, or its sentences where it has them.

    Args:
        file: the file.
        path: its name.
        meta: what else of the header is metadata, each `NAME=XPATH`.
        notes: whether notes are text.
        encoding: that of the file, where it is not the one that the file names.

    Raises:
        InputError: it is no XML, or hostile, or an expression is wrong.
    """
    return read_xml(file, _Tei(path, check_paths(meta) if meta else {}, notes=notes), encoding)


class _Tei(Elements):
    def __init__(self, path: str, paths: Mapping[str, Any], *, notes: bool) -> None:
        super().__init__(path)
        self.paths, self.notes = paths, notes
        self.flow = Flow(path, self.found)
        self.flow.fill = self._fill
        self.words = WordMaker()
        self.links: list[tuple[str, str]] = []
        #: Elements that are open, and what their ends do.
        self.names: list[str] = []
        self.ends: list[Callable[[str], None]] = []
        #: Languages of the elements that say one, by their depth.
        self.languages: list[tuple[int, str]] = []
        self.documents = 0
        self.name = ""
        self.metadata: list[str] = []
        self.header: Header | None = None
        self.in_text = False
        #: The words that are open: attributes, text and what they are made of.
        self.open_words: list[tuple[Mapping[str, str], list[str], list[Word]]] = []
        #: The text of a `speaker`, and the region that it speaks.
        self.speaker: list[str] | None = None

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""
        parent = self.names[-1] if self.names else ""
        end: Callable[[str], None] = _nothing
        if self.header is not None:
            self.header.start(name, attributes)
            end = self.header.end
        elif name == "TEI" and not self.in_text:
            self._begin_document(attributes)
        elif name == "teiHeader" and parent == "TEI" and not self.in_text:
            self.header = Header()
            self.header.start(name, attributes)
            end = self._end_header
        elif self._is_left_out(name, attributes, parent):
            self.pass_over()
            return
        elif name == "text" and not self.in_text:
            end = self._begin_text(attributes)
        elif self.in_text:
            end = self._begin_in_text(name, attributes, parent)
        self.names.append(name)
        self.ends.append(end)

    def _is_left_out(self, name: str, attributes: Mapping[str, str], parent: str) -> bool:
        if name == "note":
            return not self.notes
        if name == "linkGrp":
            return attributes.get("type") != DEPENDENCIES
        if parent in _ONE_OF:
            return name in _ONE_OF[parent]
        return name in _LEFT_OUT

    def _begin_document(self, attributes: Mapping[str, str]) -> None:
        self.documents += 1
        told = named(attributes)
        file = stem(self.path) + (f"#{self.documents}" if self.documents > 1 else "")
        self.name = told.get("id") or told.get("n") or file
        self.languages = [(len(self.names), told["lang"])] if "lang" in told else []
        self.metadata = []
        self.words.universal = True

    def _end_header(self, name: str) -> None:
        if self.header is not None:
            self.header.end(name)
            language = self.languages[0][1] if self.languages else ""
            self.metadata = self.header.metadata(language, self.paths, self.path)
            self.header = None

    def _begin_text(self, attributes: Mapping[str, str]) -> Callable[[str], None]:
        self.in_text = True
        self.flow.begin_document(self.name, self.metadata)
        self._begin_region("text", attributes, "")
        return self._end_text

    def _end_text(self, name: str) -> None:
        self._end_block(name)
        self.flow.end_document()
        self.in_text = False

    def _begin_in_text(self, name: str, attributes: Mapping[str, str], parent: str) -> Callable[[str], None]:
        """Take an element of the text; return what its end does."""
        if name in ("w", "pc") or (name == "c" and not self.open_words):
            self.open_words.append((attributes, [], []))
            return self._end_word
        if self.open_words:
            return _nothing
        if name in _EMPTY:
            if name == "link" and parent == "linkGrp":
                self.links.append((attributes.get("ana", ""), attributes.get("target", "")))
            else:
                self._milestone(name, named(attributes))
            return _nothing
        if name == "s":
            return self._begin_sentence(named(attributes))
        if name == "speaker" and parent == "sp" and self.speaker is None:
            self.speaker = []
            return self._end_speaker
        return self._begin_region(name, attributes, parent)

    def _begin_sentence(self, told: dict[str, str]) -> Callable[[str], None]:
        if self.flow.in_sentence:
            return _nothing
        sent_id = told.pop("id", "") or told.pop("n", "")
        self.flow.begin_sentence(sent_id, [said(*one) for one in with_names_written(told).items()])
        return self._end_sentence

    def _end_sentence(self, _: str) -> None:
        self.flow.end_sentence()
        self.links = []

    def _end_speaker(self, _: str) -> None:
        if self.speaker is not None:
            self.flow.opened[-1].attributes.setdefault("speaker", spaced("".join(self.speaker)))
            self.speaker = None

    def _begin_region(self, name: str, attributes: Mapping[str, str], parent: str) -> Callable[[str], None]:
        told = self.told(name, attributes)
        flow = self.flow
        end = self._end_region
        if name == "note" and not flow.is_empty:
            flow.aside()
            end = self._end_aside
        elif name == "note" or (parent not in _HOLDERS if name in _EITHER else name in _BLOCKS):
            flow.cut()
            if "lang" in told:
                self.languages.append((len(self.names), told["lang"]))
            self._set_language()
            end = self._end_block
        elif name == "l":
            flow.space()
            end = self._end_line
        flow.open(name, told)
        return end

    def _end_region(self, _: str) -> None:
        self.flow.close()

    def _end_line(self, _: str) -> None:
        self.flow.space()
        self.flow.close()

    def _end_aside(self, _: str) -> None:
        self.flow.close()
        self.flow.end_aside()

    def _end_block(self, _: str) -> None:
        self.flow.cut()
        if self.languages and self.languages[-1][0] == len(self.names):
            self.languages.pop()
        self._set_language()
        self.flow.close()

    def finish(self, name: str) -> None:
        """Take the end of an element."""
        self.names.pop()
        self.ends.pop()(name)

    def write(self, text: str, line: int) -> None:
        """Take text."""
        if self.header is not None:
            if not self.header.data(text):
                self.fail("a header of more than 20 million characters")
        elif self.open_words:
            self.open_words[-1][1].append(text)
        elif self.speaker is not None:
            self.speaker.append(text)
        elif self.in_text and self.names[-1] not in ("app", "choice", "linkGrp", "link"):
            self.flow.write(text, line)

    def _end_word(self, name: str) -> None:
        attributes, parts, inner = self.open_words.pop()
        form = spaced("".join(parts))
        if name == "c" and not form:
            self.flow.blank()
        elif self.speaker is not None:
            self.speaker.append(f"{form} ")
        elif self.open_words:
            # A word that is written together with others in one.
            outer = self.open_words[-1]
            outer[1].append(form)
            outer[2].append(self.words.of(attributes, attributes.get("norm") or form))
        elif inner:
            for word in inner:
                word.glued = True
            inner[-1].glued = attributes.get("join") in ("right", "both")
            self.flow.multiword(form, inner, self.line)
        else:
            self.flow.word(self.words.of(attributes, form), self.line)

    def _milestone(self, name: str, told: dict[str, str]) -> None:
        if name == "space" or told.get("break") == "yes":
            self.flow.space()
        elif told.get("break") == "no":
            self.flow.join()
        elif name == "milestone" and "spanTo" in told and "unit" in told:
            name, kind = told.pop("spanTo").removeprefix("#"), told.pop("unit")
            self.flow.open_span(name, kind, with_names_written(told))
        elif name == "anchor" and "id" in told:
            self.flow.close_span(told["id"])

    def _set_language(self) -> None:
        found = _LANGUAGE.fullmatch(self.languages[-1][1]) if self.languages else None
        self.flow.language = found[1].lower() if found else ""

    def _fill(self, sentence: Sentence, words: list[Word]) -> None:
        take_links(sentence, words, self.links)


def _nothing(_: str) -> None:
    """Do nothing at the end of an element."""


def _fits(sample: list[str]) -> bool:
    return root_of(sample) in ROOTS


READER = Reader(
    "tei",
    "3",
    description="TEI P5: texts with structure and header, tokenized or not",
    fits=_fits,
    read_file=read_file,
    settings=("meta", "notes", "encoding"),
    distinct=True,
    extra="documents",
)
