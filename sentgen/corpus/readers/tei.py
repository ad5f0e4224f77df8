"""TEI P5: texts with their structure, tokenised or not.

A `TEI` is a document; elements that hold text are regions of their names, with their attributes. Paragraphs,
headings, groups of lines, and the like end a sentence; lines (`l`) do not. `w` and `pc` are tokens as they
are, `s` is a sentence; other text is split as raw text is.

Of `choice` the corrected, regular, expanded form is read, of `app` the lemma; `speaker` becomes an attribute
of its `sp`. Left out are `note` (unless the option for notes is set: then notes follow their paragraph),
`fw`, `desc`, `figDesc`, `del`, readings (`rt`) and everything outside `text`. `space` ends a word. `lb`, `pb`
and the like end a word only with `break="yes"`; with `break="no"`, not even white space around them does.

The header gives title, author, date, language and licence of the document, and further metadata by XPath.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from sentgen.corpus.comments import comment_of, document_comment
from sentgen.corpus.encodings import UTF_8
from sentgen.corpus.markup import name_written
from sentgen.corpus.reader import Item, Reader
from sentgen.corpus.readers._columns import FormatError, bar_free
from sentgen.corpus.readers._flow import Flow, Word
from sentgen.corpus.readers._xml import (
    StrictElements,
    collapse_spaces,
    local,
    local_attributes,
    root_of,
    stem,
)
from sentgen.corpus.sentence import UNIVERSAL_TAGS, Sentence
from sentgen.errors import InputError, spell
from sentgen.extras import needs

if TYPE_CHECKING:
    from lxml.etree import TreeBuilder, _Element

ROOTS = ("TEI", "teiCorpus")
#: Elements that end a sentence.
_BLOCKS = frozenset(
    """ab address addrLine argument back body byline castGroup castItem castList cell closer dateline div
    div1 div2 div3 div4 div5 div6 div7 docAuthor docDate docEdition docImprint docTitle epigraph figure
    floatingText front group head imprimatur item label lg list listBibl opener p postscript row salute set
    signed sp table text titlePage titlePart trailer u""".split()  # noqa: SIM905
)
#: Elements that end a sentence unless they are inside one of `_HOLDERS`.
_EITHER = frozenset(("seg", "stage", "quote", "q", "said", "cit", "bibl"))
_HOLDERS = frozenset(("p", "ab", "l", "head", "s", "seg", "q", "quote", "said", "hi"))
#: Elements whose content is left out.
_LEFT_OUT = frozenset(
    ("teiHeader", "fw", "figDesc", "desc", "del", "rt", "standOff", "spanGrp", "facsimile", "sourceDoc")
)
#: Children that are left out, of elements with alternative encodings of the same text.
_ONE_OF = {"choice": frozenset(("sic", "orig", "abbr")), "app": frozenset(("rdg", "rdgGrp", "witDetail"))}
_EMPTY = frozenset(("lb", "pb", "cb", "gb", "milestone", "space", "anchor", "linkGrp", "link"))
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:-.*)?", re.DOTALL)


def read_file(
    file: BinaryIO, *, path: str, meta: Sequence[str] = (), notes: bool = False, encoding: str = UTF_8
) -> Iterator[Item]:
    """Yield the sentences that a TEI file marks, and the raw text of its other paragraphs.

    ``meta`` are further metadata to read from the header, each `NAME=XPATH`; with ``notes``, notes are read
    as text; ``encoding`` is that of the file, if not the one that its declaration names.

    Raises:
        InputError: the file is no XML, or hostile, or an expression is wrong.
    """
    return _Tei(path, _compile_paths(meta) if meta else {}, notes=notes).read(file, encoding)


class _Tei(StrictElements):
    def __init__(self, path: str, paths: Mapping[str, Any], *, notes: bool) -> None:
        super().__init__(path)
        self.paths, self.notes = paths, notes
        self.flow = Flow(path, self.results)
        self.flow.fill = self._fill
        self.words = WordMaker()
        self.links: list[tuple[str, str]] = []
        #: Names of the open elements, and for each the function to call at its end.
        self.names: list[str] = []
        self.ends: list[Callable[[], object] | None] = []
        #: Depth and language of the open elements with `xml:lang`.
        self.languages: list[tuple[int, str]] = []
        self.documents = 0
        self.name = ""
        self.metadata: list[str] = []
        #: The header that is open, a tree whose names have no namespace, and the characters of its text.
        self.header: TreeBuilder | None = None
        self.header_size = 0
        self.in_text = False
        #: Open word elements: their attributes, text and the words inside them.
        self.open_words: list[tuple[Mapping[str, str], list[str], list[Word]]] = []
        #: Text of an open `speaker`, and the region of its speech.
        self.speaker: list[str] | None = None

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        parent = self.names[-1] if self.names else ""
        end: Callable[[], object] | None = None
        if self.header is not None:
            self.header.start(name, dict(attributes))
            end = partial(self.header.end, name)
        elif name == "TEI" and not self.in_text:
            self._begin_document(attributes)
        elif name == "teiHeader" and parent == "TEI" and not self.in_text:
            from lxml.etree import TreeBuilder

            self.header, self.header_size = TreeBuilder(), 0
            self.header.start(name, dict(attributes))
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
        values = local_attributes(attributes)
        file = stem(self.path) + (f"#{self.documents}" if self.documents > 1 else "")
        self.name = values.get("id") or values.get("n") or file
        self.languages = [(len(self.names), values["lang"])] if "lang" in values else []
        self.metadata = []
        self.words.universal = True

    def _end_header(self) -> None:
        if self.header is not None:
            self.header.end("teiHeader")
            language = self.languages[0][1] if self.languages else ""
            self.metadata = _metadata(self.header.close(), language, self.paths, self.path)
            self.header = None

    def _begin_text(self, attributes: Mapping[str, str]) -> Callable[[], None]:
        self.in_text = True
        self.flow.begin_document(self.name, self.metadata)
        self._begin_region("text", attributes, "")
        return self._end_text

    def _end_text(self) -> None:
        self._end_block()
        self.flow.end_document()
        self.in_text = False

    def _begin_in_text(
        self, name: str, attributes: Mapping[str, str], parent: str
    ) -> Callable[[], None] | None:
        """Begin an element of the text; return the function to call at its end, if there is one."""
        if name in ("w", "pc") or (name == "c" and not self.open_words):
            self.open_words.append((attributes, [], []))
            return partial(self._end_word, name)
        if self.open_words:
            return None
        if name in _EMPTY:
            if name == "link" and parent == "linkGrp":
                self.links.append((attributes.get("ana", ""), attributes.get("target", "")))
            else:
                self._milestone(name, local_attributes(attributes))
            return None
        if name == "s":
            return self._begin_sentence(local_attributes(attributes))
        if name == "speaker" and parent == "sp" and self.speaker is None:
            self.speaker = []
            return self._end_speaker
        return self._begin_region(name, attributes, parent)

    def _begin_sentence(self, attributes: dict[str, str]) -> Callable[[], None] | None:
        if self.flow.in_sentence:
            return None
        sent_id = attributes.pop("id", "") or attributes.pop("n", "")
        self.flow.begin_sentence(
            sent_id, [comment_of(name_written(key), value) for key, value in attributes.items()]
        )
        return self._end_sentence

    def _end_sentence(self) -> None:
        self.flow.end_sentence()
        self.links = []

    def _end_speaker(self) -> None:
        if self.speaker is not None:
            self.flow.opened[-1].attributes.setdefault("speaker", collapse_spaces("".join(self.speaker)))
            self.speaker = None

    def _begin_region(self, name: str, attributes: Mapping[str, str], parent: str) -> Callable[[], None]:
        region = self.region_attributes(name, attributes)
        flow = self.flow
        end = flow.close
        if name == "note" and not flow.is_empty:
            flow.aside()
            end = self._end_aside
        elif name == "note" or (parent not in _HOLDERS if name in _EITHER else name in _BLOCKS):
            flow.cut()
            if "lang" in region:
                self.languages.append((len(self.names), region["lang"]))
            self._set_language()
            end = self._end_block
        elif name == "l":
            flow.space()
            end = self._end_line
        flow.open_region(name, region)
        return end

    def _end_line(self) -> None:
        self.flow.space()
        self.flow.close()

    def _end_aside(self) -> None:
        self.flow.close()
        self.flow.end_aside()

    def _end_block(self) -> None:
        self.flow.cut()
        if self.languages and self.languages[-1][0] == len(self.names):
            self.languages.pop()
        self._set_language()
        self.flow.close()

    def finish(self, name: str) -> None:
        self.names.pop()
        if end := self.ends.pop():
            end()

    def write(self, text: str, line: int) -> None:
        if self.header is not None:
            self.header.data(text)
            self.header_size += len(text)
            if self.header_size > _MOST_HEADER_CHARACTERS:
                self.fail("a header of more than 20 million characters")
        elif self.open_words:
            self.open_words[-1][1].append(text)
        elif self.speaker is not None:
            self.speaker.append(text)
        elif self.in_text and self.names[-1] not in ("app", "choice", "linkGrp", "link"):
            self.flow.write(text, line)

    def _end_word(self, name: str) -> None:
        attributes, parts, inner = self.open_words.pop()
        form = collapse_spaces("".join(parts))
        if name == "c" and not form:
            self.flow.blank()
        elif self.speaker is not None:
            self.speaker.append(f"{form} ")
        elif self.open_words:
            # A word inside another word element, such as the parts of a contraction.
            outer = self.open_words[-1]
            outer[1].append(form)
            outer[2].append(self.words.word(attributes, attributes.get("norm") or form))
        elif inner:
            for word in inner:
                word.glued = True
            inner[-1].glued = attributes.get("join") in ("right", "both")
            self.flow.multiword(form, inner, self.line)
        else:
            self.flow.word(self.words.word(attributes, form), self.line)

    def _milestone(self, name: str, attributes: dict[str, str]) -> None:
        if name == "space" or attributes.get("break") == "yes":
            self.flow.space()
        elif attributes.get("break") == "no":
            self.flow.join()
        elif name == "milestone" and "spanTo" in attributes and "unit" in attributes:
            name, kind = attributes.pop("spanTo").removeprefix("#"), attributes.pop("unit")
            self.flow.open_span(name, kind, {name_written(key): value for key, value in attributes.items()})
        elif name == "anchor" and "id" in attributes:
            self.flow.close_span(attributes["id"])

    def _set_language(self) -> None:
        match = _LANGUAGE.fullmatch(self.languages[-1][1]) if self.languages else None
        self.flow.language = match[1].lower() if match else ""

    def _fill(self, sentence: Sentence, words: list[Word]) -> None:
        _take_links(sentence, words, self.links)


READER = Reader(
    "tei",
    "3",
    description="TEI P5: texts with structure and header, tokenized or not",
    fits=lambda sample: root_of(sample) in ROOTS,
    read_file=read_file,
    settings=("meta", "notes", "encoding"),
    distinct=True,
    extra="documents",
)


#: Attributes that have a field of a word; the others go into MISC.
KNOWN = frozenset(["id", "lemma", "pos", "msd", "join", "norm"])
UNIVERSAL = "UPosTag="
DEPENDENCIES = "UD-SYN"
RELATION = "ud-syn:"


class WordMaker:
    """Turns the attributes of word elements into words.

    Values of `pos` are universal tags as long as all of the file were those of Universal Dependencies; after
    that, they are language-specific tags.
    """

    def __init__(self) -> None:
        self.universal = True

    def word(self, attributes: Mapping[str, str], form: str) -> Word:
        """Return a word; attributes that have no field are in its ``misc``."""
        values = {local(name): value for name, value in attributes.items()}
        token = Word(form, values.get("lemma", ""), id=values.get("id", ""))
        pos, msd, join = values.get("pos", ""), values.get("msd", ""), values.get("join", "")
        token.glued, token.tied = join in ("right", "both"), join in ("left", "both")
        if msd.startswith(UNIVERSAL):
            token.upos, _, token.feats = msd.removeprefix(UNIVERSAL).partition("|")
            token.xpos = pos
        else:
            self.universal = self.universal and (not pos or pos in UNIVERSAL_TAGS)
            if self.universal:
                token.upos = pos
            else:
                token.xpos = pos
            if "=" in msd:
                token.feats = msd
            elif msd and not token.xpos:
                token.xpos = msd
            elif msd:
                values["msd "] = msd
        more = {
            _key(name): bar_free(collapse_spaces(value))
            for name, value in values.items()
            if name not in KNOWN
        }
        token.misc = "|".join(f"{key}={value}" for key, value in more.items())
        return token


def _key(name: str) -> str:
    """Return a name as a key of MISC, which can contain neither bars nor equals signs."""
    key = name_written(name.strip())
    return name if {"|", "="} & {*key} or key != key.strip() else key


def _take_links(sentence: Sentence, words: Sequence[Word], links: Sequence[tuple[str, str]]) -> None:
    """Set heads and relations from links, each the type of the link and its target `#HEAD #DEPENDENT`.

    A link whose head is no word, but the sentence, marks the root.
    """
    if not links:
        return
    positions = {word.id: position for position, word in enumerate(words, 1) if word.id}
    heads = [-1] * len(words)
    relations = ["_"] * len(words)
    for relation, targets in links:
        names = [name.removeprefix("#") for name in targets.split()]
        if len(names) != 2 or names[1] not in positions:
            raise FormatError(
                "head-range", f"a link to {targets[:40]!r}, which names no word of the sentence"
            )
        position = positions[names[1]] - 1
        heads[position] = positions.get(names[0], 0)
        relations[position] = relation.removeprefix(RELATION).replace("_", ":")
    if -1 in heads:
        raise FormatError("head-range", f"no link says what token {heads.index(-1) + 1} depends on")
    sentence.heads, sentence.deprels = heads, relations


#: XPath expressions by key of metadata, in order of preference.
_PATHS: Mapping[str, Sequence[str]] = {
    "title": (
        "fileDesc/titleStmt/title[@type='main' and not(@xml:lang != $language)]",
        "fileDesc/titleStmt/title[@type='main']",
        "fileDesc/titleStmt/title",
    ),
    "author": ("fileDesc/titleStmt/author",),
    "date": (
        "profileDesc/creation/date",
        "profileDesc/settingDesc//date",
        "fileDesc/sourceDesc//bibl[@type='firstEdition']/date",
        "fileDesc/sourceDesc//date",
        "fileDesc/publicationStmt//date",
    ),
    "licence": ("fileDesc/publicationStmt//licence", "fileDesc/publicationStmt/availability"),
}
_WHEN = ("when", "from", "notBefore", "to", "notAfter")
#: Element of an export for metadata that have no element of their own.
OTHERS = "metadata"
#: Separates several values of a key.
SEPARATOR = "; "
_LITERAL = re.compile(r"""("[^"]*"|'[^']*')""")
_NAME = re.compile(r"[^\s=|]+")
#: Most characters of a header.
_MOST_HEADER_CHARACTERS = 20_000_000


def _compile_paths(given: Iterable[str]) -> dict[str, Any]:
    """Return compiled XPath expressions by key of metadata, from items such as `date=//creation/date`.

    The expressions name elements without a prefix, or with `tei:`.

    Raises:
        InputError: an item is no name with an expression, or the expression is wrong.
    """
    with needs("documents", "lxml"):
        from lxml import etree

    paths = {}
    for option in given:
        name, equals, path = (part.strip() for part in option.partition("="))
        if not (equals and path and _NAME.fullmatch(name)):
            raise InputError(
                f"{spell('meta')} {option!r} is not NAME=XPATH, such as date=//creation/date/@when"
            )
        # Names in the tree of a header have no prefixes; a string literal is left as it is.
        pieces = _LITERAL.split(path)
        pieces[::2] = [re.sub(r"\btei:", "", piece) for piece in pieces[::2]]
        try:
            paths[name] = etree.XPath("".join(pieces))
        except etree.XPathError as error:
            raise InputError(f"{spell('meta')} {name}: no XPath: {path!r}: {error}") from error
    return paths


def _metadata(header: _Element, language: str, paths: Mapping[str, Any], path: str) -> list[str]:
    """Return the metadata of a document, as comments of CoNLL-U; ``language`` is that of its `xml:lang`."""
    metadata = dict(_usual(header, language))
    for note in header.iterfind(f"fileDesc/notesStmt/note[@type='{OTHERS}']"):
        key = note.get("n")
        if key is not None:
            metadata[key] = _text(note)
    for key, expression in paths.items():
        try:
            metadata[key] = _value(expression(header))
        except Exception as error:  # what lxml raises depends on the expression
            raise InputError(f"{spell('meta')} {key}: {error}", path=path) from error
    return [document_comment(key, value) for key, value in metadata.items() if value]


def _usual(header: _Element, language: str) -> Iterator[tuple[str, str]]:
    for key, paths in _PATHS.items():
        for path in paths:
            matches: Any = header.xpath(path, language=language)
            values = [_element_value(match, key) for match in matches]
            values = list(dict.fromkeys(value for value in values if value))
            if values:
                yield key, SEPARATOR.join(values) if key == "author" else values[0]
                break
    if not language:
        idents: Any = header.xpath("profileDesc/langUsage/language/@ident")
        language = str(idents[0]) if idents else ""
    yield "language", language


def _element_value(element: _Element, key: str) -> str:
    if key == "date":
        return next((value for name in _WHEN if (value := element.get(name))), "") or _text(element)
    if key == "licence":
        return element.get("target") or _text(element)
    return _text(element)


def _value(result: Any) -> str:
    """Return the result of an XPath expression as text: of nodes, their texts."""
    if isinstance(result, list):
        texts = [_text(node) if hasattr(node, "itertext") else collapse_spaces(str(node)) for node in result]
        return SEPARATOR.join(dict.fromkeys(text for text in texts if text))
    if isinstance(result, bool):
        return str(result).lower()
    return f"{result:g}" if isinstance(result, float) else collapse_spaces(str(result))


def _text(element: _Element) -> str:
    return collapse_spaces("".join(element.itertext()))
