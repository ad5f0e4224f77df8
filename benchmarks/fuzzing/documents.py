"""Small documents and tables, whose parts are mutated before they are packed, and bytes after it."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from fuzzing.mutations import damaged, mutant
from sentgen.output.tabular import write_workbook

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_DOCX = {
    "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    "<w:r><w:t>A title</w:t></w:r></w:p><w:p><w:r><w:t>The dog barks. It </w:t></w:r><w:del><w:r>"
    "<w:delText>was</w:delText></w:r></w:del><w:r><w:t>is loud.</w:t></w:r></w:p></w:body></w:document>",
    "word/styles.xml": f'<w:styles xmlns:w="{_W}"><w:style w:type="paragraph" w:styleId="Heading1">'
    '<w:name w:val="heading 1"/></w:style></w:styles>',
    "docProps/core.xml": '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Ann</dc:creator></c>',
}
_ODT = {
    "mimetype": "application/vnd.oasis.opendocument.text",
    "META-INF/manifest.xml": "<manifest/>",
    "content.xml": f'<o:document-content xmlns:o="{_OFFICE}" xmlns:t="{_TEXT}"><o:body><o:text>'
    '<t:h t:outline-level="1">A title</t:h><t:list><t:list-item><t:p>One.</t:p></t:list-item></t:list>'
    "<t:p>The dog<t:s/>barks.<t:line-break/>It is loud.</t:p></o:text></o:body></o:document-content>",
    "meta.xml": '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title></m>',
}
_EPUB = {
    "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="b.opf"/></rootfiles></container>',
    "b.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    '<dc:title>T</dc:title></metadata><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/>'
    '</manifest><spine><itemref idref="c"/></spine></package>',
    "c.xhtml": "<html><body><h1>A title</h1><p>The dog barks.&nbsp;It is loud.</p></body></html>",
}
_HTML = "<!doctype html><html><head><title>T</title></head><body><h2>One</h2><ul><li>a</li></ul><p>It is.</p></body></html>"
_MARKDOWN = "---\ntitle: T\n---\n\n# One\n\n* a\n* b\n\n> It is so.\n\n| a | b |\n|---|---|\n| c | d |\n"
_TABLE = [["id", "body", "year"], ["1", 'The dog "barks".', "1990"], ["2", "It is\nloud.", ""]]
_CSV = "\n".join(",".join(f'"{one}"' for one in row) for row in _TABLE) + "\n"
_PDF = (
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    "4 0 obj<</Length 38>>stream\nBT /F 9 Tf 9 9 Td (The dog barks.) Tj ET\nendstream endobj\n"
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n"
)
_TEXTS = {"html": _HTML, "markdown": _MARKDOWN, "csv": _CSV, "tsv": _CSV.replace(",", "\t"), "pdf": _PDF}


def _workbook() -> dict[str, str]:
    sink = io.BytesIO()
    write_workbook(_TABLE[0], _TABLE[1:], sink)
    with zipfile.ZipFile(sink) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


_PACKED: dict[str, Mapping[str, str]] = {"docx": _DOCX, "odt": _ODT, "epub": _EPUB, "xlsx": _workbook()}
_OTHERS = [*_TEXTS.values(), *(text for members in _PACKED.values() for text in members.values())]
#: Formats of documents and tables.
FORMS = (*_TEXTS, *_PACKED, "parquet")


def document(rng: random.Random, form: str) -> bytes:
    """Return a mutant of a document in a format."""
    if form in _TEXTS:
        return mutant(rng, _TEXTS[form], _OTHERS)
    sink = io.BytesIO()
    if form == "parquet":
        columns = dict(zip(_TABLE[0], map(list, zip(*_TABLE[1:], strict=True)), strict=True))
        pq.write_table(pa.table(columns), sink)
        return damaged(rng, sink.getvalue(), rng.choice((0, 1, 3)))
    members = dict(_PACKED[form])
    odd = rng.choice([*members])
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            if name != odd or rng.random() < 0.9:
                archive.writestr(name, mutant(rng, text, _OTHERS) if name == odd else text)
    return damaged(rng, sink.getvalue(), rng.choice((0, 0, 0, 1)))
