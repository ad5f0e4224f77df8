"""TEI: texts and words, their regions and headers, and what is refused."""

from __future__ import annotations

import gzip
import io
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from sentgen.corpus.formats import choose_reader, detect
from sentgen.corpus.paths import expand
from sentgen.corpus.reader import Reader
from sentgen.corpus.readers.tei import read_file
from sentgen.corpus.reading import read_source
from sentgen.corpus.sentence import RawText, Sentence
from sentgen.errors import InputError, Rejection

NAMESPACE = "http://www.tei-c.org/ns/1.0"


def tei(body: str, *, header: str = "", attributes: str = "") -> str:
    return (
        f'<TEI xmlns="{NAMESPACE}"{attributes}><teiHeader>{header}</teiHeader>'
        f"<text><body>{body}</body></text></TEI>"
    )


def read(content: str | bytes, **given: object) -> list[Sentence | Rejection | RawText]:
    data = content if isinstance(content, bytes) else content.encode()
    return list(read_file(io.BytesIO(data), path="folder/x.xml", **given))  # type: ignore[arg-type]


def good(content: str, **given: object) -> list[Sentence | RawText]:
    found = read(content, **given)
    assert not [one for one in found if isinstance(one, Rejection)], found
    return found  # type: ignore[return-value]


def texts(content: str, **given: object) -> list[str]:
    return [" ".join(one.forms) if isinstance(one, Sentence) else one.text for one in good(content, **given)]


def regions(found: list[Sentence | RawText]) -> list[tuple[str, dict[str, str], str]]:
    """Return kind, attributes and text of each region, in the order of their ends, but for text and body."""
    open_: dict[object, list[str]] = {}
    ended = []
    for item in found:
        units: list[str] | str = item.forms if isinstance(item, Sentence) else item.text
        at = 0
        for mark in (*item.marks, None):
            place = len(units) if mark is None else mark.place
            for parts in open_.values():
                parts += units[at:place]
            at = place
            if mark is None:
                continue
            if mark.begins:
                open_[mark.region] = []
            else:
                parts = open_.pop(mark.region)
                joined = ("" if isinstance(item, RawText) else " ").join(parts).rstrip("|")
                ended.append((mark.region.kind, dict(mark.region.attributes), joined))
        if isinstance(item, RawText):
            for parts in open_.values():
                parts.append("|")
    assert not open_
    return [one for one in ended if one[0] not in ("text", "body")]


class TestText:
    def test_paragraphs_are_texts_with_lines_and_regions(self) -> None:
        found = good(tei('\n<div type="chapter" n="1">\n<head>One</head>\n<p>A\n <hi>b</hi>c.\n</p></div>'))

        assert found[0] == RawText(
            "One",
            3,
            document="x",
            marks=found[0].marks,
        )
        assert found[1].text == "A bc."
        assert (found[1].line, found[1].starts) == (4, (0, 2))
        assert regions(found) == [
            ("head", {}, "One"),
            ("hi", {}, "b"),
            ("p", {}, "A bc."),
            ("div", {"type": "chapter", "n": "1"}, "One|A bc."),
        ]

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("<lg><l>Two lines</l><l>of one sentence</l></lg>", ["Two lines of one sentence"]),
            ("<p>wo<lb/>rd and<pb n='2'/> page</p>", ["word and page"]),
            ("<p>one<lb break='yes'/>two</p>", ["one two"]),
            ("<p>a<!-- no --><?no?>b<![CDATA[<c>]]>&lt;&#233;</p>", ["ab<c><é"]),
            ("<p>a <choice><sic>teh</sic><corr>the</corr></choice> b</p>", ["a the b"]),
            ("<p><choice><abbr>Dr</abbr><expan>Doctor</expan></choice></p>", ["Doctor"]),
            ("<p><choice><orig>vp</orig><reg>up</reg></choice></p>", ["up"]),
            ("<p><app><lem>this</lem><rdg>that</rdg></app></p>", ["this"]),
            ("<p>a<note>b</note>c</p>", ["ac"]),
            ("<fw>Page 1</fw><p>a<figure><head>H</head><figDesc>D</figDesc></figure></p>", ["a", "H"]),
            ("<p>a <del>b</del> c</p>", ["a c"]),
            ("<p>a<list><item>b</item><item>c</item></list>d</p>", ["a", "b", "c", "d"]),
            ("<p>He said <q>no</q> and <quote>yes</quote>.</p>", ["He said no and yes."]),
            ("<quote>Alone</quote><p>a</p>", ["Alone", "a"]),
            ("<u who='#a'><seg>One.</seg><seg>Two.</seg></u>", ["One.", "Two."]),
            ("<p>10\u00a0000\tx</p>", ["10\u00a0000 x"]),
            ("text with no paragraph", ["text with no paragraph"]),
            ("<gap/><p> <lb/> </p>", []),
        ],
    )
    def test_what_is_text(self, body: str, expected: list[str]) -> None:
        assert texts(tei(body)) == expected

    def test_sentences_without_words_are_whole(self) -> None:
        found = good(tei('<p><s n="1">Mr. X.</s> <s>Y. Z.</s></p>'))

        assert [(one.text, one.whole) for one in found] == [("Mr. X.", True), ("Y. Z.", True)]
        assert [one.metadata for one in found] == [[], []]

    def test_a_speaker_is_said_of_the_speech(self) -> None:
        found = good(tei('<sp who="#h"><speaker>HAMLET. </speaker><l>To be<stage>aside</stage></l></sp>'))

        assert [one.text for one in found] == ["To beaside"]
        assert ("sp", {"who": "#h", "speaker": "HAMLET."}, "To beaside") in regions(found)

    def test_a_speaker_of_words(self) -> None:
        (found,) = good(
            tei("<sp><speaker><s><w>THE</w> <w>KING</w></s></speaker><p><s><w>Hm</w></s></p></sp>")
        )

        assert ("sp", {"speaker": "THE KING"}, "Hm") in regions([found])

    @pytest.mark.parametrize(
        "body",
        [
            "<speaker>A</speaker><sp><speaker>A<speaker>B</speaker></speaker></sp><p>a</p>",
            "<w>a<text>b<s>c</s></text></w><text><p>d</p></text><TEI><teiHeader/><text>e</text></TEI>",
            "<s>a<s>b</s>c</s><note>d<s>e<note>f</note></s></note>",
            "<choice/><choice><choice><sic>a</sic></choice></choice><linkGrp type='UD-SYN'><p>a</p></linkGrp>",
            "<c><c>a</c></c><w><c>a</c><w/></w><pc/><lb>a</lb>",
        ],
    )
    def test_strange_nesting_is_read(self, body: str) -> None:
        found = read(tei(f"<p>First.</p>{body}<p>Last.</p>"), notes=True)

        assert isinstance(found[-1], RawText)
        assert found[-1].text == "Last."
        assert not any(mark.begins for mark in found[-1].marks[-3:])

    def test_notes_stand_behind_their_paragraph(self) -> None:
        body = '<div><p>One <hi>two<note place="foot"><p>N.</p></note> three</hi>.</p><p>Four</p></div>'
        found = good(tei(body), notes=True)

        assert [one.text for one in found] == ["One two three.", "N.", "Four"]
        assert [one[0] for one in regions(found)] == ["hi", "p", "note", "p", "p", "div"]
        # It is part of its paragraph all the same.
        assert regions(found)[2:4] == [("note", {"place": "foot"}, "N."), ("p", {}, "One two three.|N.")]

    def test_a_note_first(self) -> None:
        assert texts(tei("<p><note>N</note>One</p>"), notes=True) == ["N", "One"]

    def test_a_region_without_text_is_none(self) -> None:
        assert regions(good(tei("<p>a<hi/><hi> </hi></p><div><p/></div>"))) == [("p", {}, "a")]

    def test_languages(self) -> None:
        body = '<p>a</p><p xml:lang="fr-FR">b</p><div xml:lang="x-1"><p>c</p></div><p><hi xml:lang="it">d</hi></p>'
        found = good(tei(body, attributes=' xml:lang="de"'))

        assert [one.language for one in found] == ["de", "fr", "", "de"]

    def test_a_long_text_is_cut_where_it_is_white(self) -> None:
        found = good(tei("<p>" + "word word\n" * 50_000 + "</p>"))

        assert len(found) > 1
        assert " ".join(one.text for one in found) == " ".join(["word"] * 100_000)
        assert regions(found)[0][0] == "p"


WORDS = """
<p><s xml:id="s1" n="7"><w lemma="be" pos="AUX">Is</w> <w lemma="not" pos="PART" join="left">n't</w>
<name type="PER"><w pos="PROPN">Ann</w></name><pc join="left">?</pc></s></p>
"""
PARLAMINT = """
<u who="#Ann"><seg><s xml:id="s"><w xml:id="w1" lemma="we" pos="PRP" msd="UPosTag=PRON|Number=Plur">We</w>
<w xml:id="w23">cannot<w xml:id="w2" norm="can" lemma="can" msd="UPosTag=AUX"/><w xml:id="w3" norm="not" lemma="not"
 msd="UPosTag=PART"/></w><w xml:id="w4" lemma="go" msd="UPosTag=VERB" join="right">go</w>
<pc xml:id="w5" msd="UPosTag=PUNCT">.</pc>
<linkGrp type="UD-SYN" targFunc="head argument"><link ana="ud-syn:nsubj" target="#w4 #w1"/>
<link ana="ud-syn:aux_pass" target="#w4 #w2"/><link ana="ud-syn:advmod" target="#w4 #w3"/>
<link ana="ud-syn:root" target="#s #w4"/><link ana="ud-syn:punct" target="#w4 #w5"/></linkGrp></s></seg></u>
"""


class TestWords:
    def test_words_are_taken_as_they_are(self) -> None:
        (found,) = good(tei(WORDS))

        assert found == Sentence(
            ["Is", "n't", "Ann", "?"],
            lemmas=["be", "not", "", ""],
            upos=["AUX", "PART", "PROPN", "_"],
            space_after=[False, True, False, True],
            sent_id="s1",
            metadata=["n = 7"],
            document="x",
            line=2,
            marks=found.marks,
        )
        assert regions([found]) == [("name", {"type": "PER"}, "Ann"), ("p", {}, "Is n't Ann ?")]

    def test_parlamint(self) -> None:
        (found,) = good(tei(PARLAMINT))

        assert found == Sentence(
            ["We", "can", "not", "go", "."],
            lemmas=["we", "can", "not", "go", ""],
            upos=["PRON", "AUX", "PART", "VERB", "PUNCT"],
            xpos=["PRP", "_", "_", "_", "_"],
            feats=["Number=Plur", "_", "_", "_", "_"],
            heads=[4, 4, 4, 0, 4],
            deprels=["nsubj", "aux:pass", "advmod", "root", "punct"],
            space_after=[True, False, True, False, True],
            multiwords=[(2, 3, "cannot")],
            sent_id="s",
            document="x",
            line=2,
            marks=found.marks,
        )

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            # Tags of one's own, and features.
            ('<w pos="NN" msd="Case=Nom">a</w>', (None, ["NN"], ["Case=Nom"], None)),
            ('<w msd="Ncmsn">a</w>', (None, ["Ncmsn"], None, None)),
            ('<w pos="NOUN" msd="Ncmsn">a</w>', (["NOUN"], ["Ncmsn"], None, None)),
            ('<w pos="NN" msd="Ncmsn" ana="#x|y">a</w>', (None, ["NN"], None, ("ana=#x\\py|msd=Ncmsn",))),
            # As soon as one tag is not universal.
            ('<w pos="NOUN">a</w><w pos="ADJA">b</w>', (["NOUN", "_"], ["_", "ADJA"], None, None)),
        ],
    )
    def test_tags(self, words: str, expected: object) -> None:
        (found,) = good(tei(f"<s>{words}</s>"))

        assert (found.upos, found.xpos, found.feats, found.misc) == expected

    def test_spaces_of_c(self) -> None:
        (found,) = good(tei("<s><w>a</w><c> </c><w>b</w><c>.</c></s>"))

        assert (found.forms, found.space_after) == (["a", "b", "."], [True, False, True])

    def test_text_beside_words_is_not_lost(self) -> None:
        (found,) = good(tei("<s>So <hi>it <w>goes</w></hi>, <w>on</w>!</s>"))

        assert found.forms == ["So", "it", "goes", ",", "on", "!"]
        assert regions([found]) == [("hi", {}, "it goes")]

    def test_words_without_sentences_are_cut(self) -> None:
        body = "<p><w>One</w><pc>.</pc><pc>”</pc><w>Two</w></p><p><w>Three</w></p>"

        assert texts(tei(body)) == ["One . ”", "Two", "Three"]

    def test_a_sentence_goes_over_lines(self) -> None:
        body = "<lg><l><s><w>One</w></l><l><w>two</w></s></l></lg>".replace("<s>", "").replace("</s>", "")

        assert texts(tei(f"<s>{body}</s>")) == ["One two"]

    @pytest.mark.parametrize(
        ("body", "check"),
        [
            ("<s><w/></s>", "empty-form"),
            ("<s><w>&lt;s></w></s>", "reserved-symbol"),
            (PARLAMINT.replace("#w4 #w1", "#w4 #w9"), "head-range"),
            (PARLAMINT.replace('<link ana="ud-syn:nsubj" target="#w4 #w1"/>', ""), "head-range"),
            (PARLAMINT.replace("#s #w4", "#w1 #w4"), "root-count"),
            (f"<s>{'<w>a</w>' * 10_001}</s>", "sentence-length"),
        ],
    )
    def test_a_bad_sentence_is_refused_and_what_follows_read(self, body: str, check: str) -> None:
        first, second = read(tei(f"<div>{body}<p>Good.</p></div>"))

        assert isinstance(first, Rejection)
        assert first.check == check
        assert isinstance(second, RawText)
        assert (second.text, second.document) == ("Good.", "x")


HEADER = """
<fileDesc><titleStmt><title type="sub">no</title><title type="main">A  Title</title>
<author>Ann</author><author>Bob</author></titleStmt>
<publicationStmt><date>2021</date><availability><licence target="https://x/by"/></availability></publicationStmt>
<sourceDesc><bibl><date when="1999-01-02">then</date></bibl></sourceDesc></fileDesc>
<profileDesc><langUsage><language ident="eng">English</language></langUsage>
<textDesc><authorGender xmlns="http://distantreading.net/eltec/ns" key="F"/></textDesc></profileDesc>
"""


class TestHeader:
    def test_what_it_says(self) -> None:
        (found,) = good(tei("<p>a</p>", header=HEADER, attributes=' xml:id="D1"'))

        assert found.document == "D1"
        assert found.metadata == [
            "meta::title = A Title",
            "meta::author = Ann; Bob",
            "meta::date = 1999-01-02",
            "meta::licence = https://x/by",
            "meta::language = eng",
        ]

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("//authorGender/@key", "F"),
            ("//tei:title[@type='sub']", "no"),
            ("fileDesc/titleStmt/author", "Ann; Bob"),
            ("count(//author)", "2"),
            ("concat('tei:', //date)", "tei:2021"),
            ("boolean(//author)", "true"),
        ],
    )
    def test_asked(self, path: str, value: str) -> None:
        (found,) = good(tei("<p>a</p>", header=HEADER), meta=[f"k={path}"])

        assert f"meta::k = {value}" in found.metadata

    def test_nothing_is_found(self) -> None:
        (found,) = good(tei("<p>a</p>"), meta=["k=//nothing"])

        assert found.metadata == []

    @pytest.mark.parametrize(
        ("meta", "message"),
        [
            ("k", "is not NAME=XPATH"),
            ("=//a", "is not NAME=XPATH"),
            ("k=//a[", "`meta` k: no XPath"),
            ("k=x:a", "`meta` k: Undefined namespace prefix"),
            ("k=nothing()", "`meta` k: "),
        ],
    )
    def test_wrong_expressions_are_one_line(self, meta: str, message: str) -> None:
        with pytest.raises(InputError) as error:
            read(tei("<p>a</p>"), meta=[meta])
        assert message in str(error.value)
        assert "\n" not in str(error.value)

    def test_corpus_of_texts(self) -> None:
        one = tei("<p>a</p>", header=HEADER, attributes=' xml:id="A"')
        other = tei("<p>b</p>")
        found = good(
            f'<teiCorpus xmlns="{NAMESPACE}"><teiHeader>{HEADER}</teiHeader>{one}{other}</teiCorpus>'
        )

        assert [one.document for one in found] == ["A", "x#2"]
        assert found[1].metadata == []
        # Regions end with their document.
        assert all(mark.begins for mark in found[1].marks[:3])


class TestRefused:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                "<TEI>\n<text>\n<p>a</div></text></TEI>",
                "x.xml:3: not well-formed XML: Opening and ending tag",
            ),
            ("<TEI>\n<text>", "x.xml:2: not well-formed XML: "),
            ("<TEI>\n&nbsp;</TEI>", "x.xml:2: not well-formed XML: Entity 'nbsp' not defined"),
            (
                '<!DOCTYPE TEI [\n<!ENTITY a "lol">\n<!ENTITY b "&a;&a;&a;">]>\n<TEI>&b;</TEI>',
                "x.xml:2: declares entities",
            ),
            (
                '<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]><TEI>&x;</TEI>',
                "x.xml:1: declares entities",
            ),
            ('<!DOCTYPE TEI SYSTEM "tei.dtd">\n<TEI>\n<text>&mdash;</text></TEI>', "x.xml:3: entity &mdash;"),
            ("<TEI>" + "<div>\n" * 300, "x.xml:200: elements are nested more than 200 deep"),
            (f"<TEI><text>\n<p n='{'x' * 5000}'>a</p></text></TEI>", "x.xml:2: n of p has 5000 characters"),
            ("<TEI><text>\n<p>\x7f</p></text></TEI>", "x.xml:2: the control character U+007F"),
            (b"<TEI>\n<text>\xff</text></TEI>", "x.xml:2: not well-formed XML: "),
            ("<TEI>\n<p:/></TEI>", "x.xml:2: p: is no name with a namespace"),
            ("<TEI>\n<p word:='1'/></TEI>", "x.xml:2: word: is no name with a namespace"),
            ("", "x.xml:1: not well-formed XML: "),
        ],
    )
    def test_in_one_line(self, content: str | bytes, message: str) -> None:
        with pytest.raises(InputError) as error:
            read(content)
        assert message in str(error.value)
        assert "\n" not in str(error.value)

    def test_an_attribute_of_hundreds_of_megabytes(self) -> None:
        """It is refused after eight: so much is in memory, and no more."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        with pytest.raises(InputError, match=r"x.xml:1: a tag or comment of more than 8,388,608 bytes"):
            list(read_file(_File(_attribute()), path="x.xml"))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024

    def test_a_document_type_is_not_loaded(self) -> None:
        assert texts('<!DOCTYPE TEI SYSTEM "http://127.0.0.1:9/tei.dtd">' + tei("<p>a &amp; b</p>")) == [
            "a & b"
        ]


class _File(io.RawIOBase):
    """A file whose lines are made when they are read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.rest = lines

    def readline(self, size: int | None = -1) -> bytes:
        return next(self.rest, b"")


def _attribute() -> Iterator[bytes]:
    yield b"<TEI n='"
    for _ in range(6_000):
        yield b"x" * 65_536


def _large(paragraphs: int) -> Iterator[bytes]:
    yield f'<TEI xmlns="{NAMESPACE}"><teiHeader/><text><body>\n'.encode()
    for _ in range(paragraphs):
        yield b"<p>" + b"A dark and <hi>stormy</hi> night." + b"It rained. " * 500 + b"</p>\n"
    yield b"</body></text></TEI>\n"


@pytest.mark.parametrize("megabytes", [20, pytest.param(600, marks=pytest.mark.nightly)])
def test_a_large_file_is_read_in_bounded_memory(megabytes: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    paragraphs = megabytes * 180
    found = sum(1 for _ in read_file(_File(_large(paragraphs)), path="x"))

    assert found == paragraphs
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10 * 1024


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings(encoding: str) -> None:
    content = f'<?xml version="1.0" encoding="{encoding}"?>\n' + tei("<p>été</p>")

    assert [one.text for one in read(content.encode(encoding))] == ["été"]
    bare = tei("<p>été</p>").encode("latin-1")
    assert [one.text for one in read(bare, encoding="latin-1")] == ["été"]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.xml", tei("a"), "tei"),
        ("a.xml.gz", "<?xml version='1.0'?>\n<!-- <html> -->\n" + tei("a"), "tei"),
        ("a", f"<t:teiCorpus xmlns:t='{NAMESPACE}'/>", "tei"),
        ("a.xml", "<!DOCTYPE TEI SYSTEM 'a.dtd' [\n<!ELEMENT a (b)>\n]>\n<TEI/>", "tei"),
    ],
)
def test_detected(tmp_path: Path, name: str, content: str, expected: str) -> None:
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (source,) = expand([str(tmp_path / name)])

    assert detect(source) == expected


def test_other_xml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<?xml version='1.0'?>\n<rss><item>a</item></rss>\n")
    (source,) = expand([str(path)])

    with pytest.raises(InputError, match=r"HTML with the root rss, .* only TEI and FoLiA are read"):
        detect(source)


class TestNovels:
    """Two ELTeC novels, counted by XPath as well."""

    @pytest.fixture
    def novels(self, data_dir: Path) -> Path:
        return data_dir / "formats" / "eltec"

    @staticmethod
    def tree(path: Path) -> etree._Element:
        data = path.read_bytes()
        return etree.fromstring(gzip.decompress(data) if path.suffix == ".gz" else data)

    @staticmethod
    def sentences(path: Path) -> list[Sentence]:
        (source,) = expand([str(path)])
        reader = choose_reader(source, None, {})
        assert isinstance(reader, Reader)
        found = list(read_source(reader, source.open()))
        assert all(isinstance(one, Sentence) for one in found)
        return found  # type: ignore[return-value]

    @staticmethod
    def kinds(found: list[Sentence]) -> Counter[str]:
        return Counter(mark.region.kind for one in found for mark in one.marks if mark.begins)

    @staticmethod
    def in_tree(root: etree._Element) -> Counter[str]:
        """Count the elements of the text that hold text, but for words and sentences."""
        text = root.find(f"{{{NAMESPACE}}}text")
        assert text is not None
        names = (etree.QName(one).localname for one in text.iter() if "".join(one.itertext()).strip())
        counts = Counter(names)
        for name in ("w", "pc", "s"):
            del counts[name]
        return counts

    @pytest.mark.data
    def test_words_and_lemmas_are_those_of_the_file(self, novels: Path) -> None:
        path = novels / "ENG18872_Lyall.level2.xml.gz"
        words = self.tree(path).xpath("//t:w|//t:pc", namespaces={"t": NAMESPACE})
        found = self.sentences(path)

        forms = [form for one in found for form in one.forms]
        assert forms == [word.text for word in words]
        assert [lemma for one in found for lemma in one.lemmas or ()] == [word.get("lemma") for word in words]
        assert [tag for one in found for tag in one.upos or ()] == [word.get("pos") for word in words]
        assert len(found) == len(self.tree(path).findall(f".//{{{NAMESPACE}}}s"))

    @pytest.mark.data
    @pytest.mark.parametrize(
        "name", ["ENG18872_Lyall.xml", "ENG18872_Lyall.level2.xml.gz", "ENG19011_Jerome.xml"]
    )
    def test_regions_are_the_elements_with_text(self, novels: Path, name: str) -> None:
        found = self.sentences(novels / name)
        expected = self.in_tree(self.tree(novels / name))

        assert self.kinds(found) == expected
        ends = Counter(mark.region.kind for one in found for mark in one.marks if not mark.begins)
        assert ends == expected

    @pytest.mark.data
    @pytest.mark.parametrize("name", ["ENG18872_Lyall.xml", "ENG19011_Jerome.xml"])
    def test_no_character_is_lost(self, novels: Path, name: str) -> None:
        text = self.tree(novels / name).find(f"{{{NAMESPACE}}}text")
        assert text is not None
        for note in text.findall(f".//{{{NAMESPACE}}}note"):
            note.getparent().remove(note)  # type: ignore[union-attr]
        found = self.sentences(novels / name)

        assert "".join("".join(one.text.split()) for one in found) == "".join(
            "".join(text.itertext()).split()
        )

    @pytest.mark.data
    def test_both_levels_say_the_same(self, novels: Path) -> None:
        """Level 2 is level 1 tokenised by another program: the letters are the same, and the structure."""
        first, second = (
            self.sentences(novels / name) for name in ("ENG18872_Lyall.xml", "ENG18872_Lyall.level2.xml.gz")
        )
        letters = [
            "".join(
                character for one in found for form in one.forms for character in form if character.isalnum()
            )
            for found in (first, second)
        ]
        assert letters[0] == letters[1]
        for kind in ("p", "div", "l", "quote", "head"):
            assert self.kinds(first)[kind] == self.kinds(second)[kind]
