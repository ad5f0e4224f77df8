"""Documents of Word, OpenDocument, EPUB, Excel and PDF, written by hand for tests."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
STYLES = f"""<w:styles xmlns:w="{_W}">
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Zitat"><w:name w:val="Quote"/></w:style>
<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Round"><w:name w:val="Round"/><w:basedOn w:val="Round"/></w:style>
</w:styles>"""


def write_zip(path: Path, members: Mapping[str, str | bytes]) -> Path:
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def docx(path: Path, body: str, *, core: str = "", more: Mapping[str, str] | None = None) -> Path:
    """Write a document of Word with this body."""
    document = (
        f'<w:document xmlns:w="{_W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<w:body>{body}</w:body></w:document>"
    )
    members = {"word/document.xml": document, "word/styles.xml": STYLES, **(more or {})}
    if core:
        members["docProps/core.xml"] = f"<core {_DC}>{core}</core>"
    return write_zip(path, members)


def paragraph(text: str, properties: str = "") -> str:
    """Return a paragraph of Word."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def odt(path: Path, body: str, *, meta: str = "", manifest: str = "<manifest/>", styles: str = "") -> Path:
    """Write a document of OpenDocument with this body."""
    office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    content = (
        f'<office:document-content xmlns:office="{office}" xmlns:text="{text}">'
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    members = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    members |= {"META-INF/manifest.xml": manifest, "meta.xml": f"<meta {_DC}>{meta}</meta>"}
    return write_zip(path, members)


def epub(
    path: Path,
    chapters: Mapping[str, str | bytes],
    *,
    meta: str = "",
    linear: Mapping[str, str] | None = None,
) -> Path:
    """Write a book with these pages, in this order."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(
        f'<itemref idref="c{n}" linear="{(linear or {}).get(name, "yes")}"/>'
        for n, name in enumerate(chapters)
    )
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><metadata {_DC}>{meta}</metadata>'
        '<manifest><item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        f'{items}</manifest><spine><itemref idref="nav"/>{spine}</spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    pages = {f"OEBPS/{name}": page for name, page in chapters.items()}
    nav: dict[str, str | bytes] = {"OEBPS/nav.xhtml": "<html><body><p>Contents</p></body></html>"}
    return write_zip(path, {"META-INF/container.xml": container, "OEBPS/book.opf": package, **nav, **pages})


def xlsx(path: Path, rows: Sequence[Sequence[object]], *, sheets: Sequence[str] = ("First",)) -> Path:
    """Write a workbook whose first sheet has these rows; a pair is a formula with its value."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    told = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in zip(numbers, sheets, strict=True)
    )
    links = "".join(
        f'<Relationship Id="rId{n}" Type="{relations}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kind}.worksheet+xml"/>'
        for n in numbers
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{packages}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{packages}/relationships">'
        f'<Relationship Id="rId1" Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>{told}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packages}/relationships">{links}</Relationships>',
    }
    for n in numbers:
        body = "".join(_row(number, row) for number, row in enumerate(rows if n == 1 else (), 1))
        members[f"xl/worksheets/sheet{n}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'
        )
    return write_zip(path, members)


def _row(number: int, row: Sequence[object]) -> str:
    return f'<row r="{number}">{"".join(_cell(number, at, value) for at, value in enumerate(row))}</row>'


def _cell(number: int, at: int, value: object) -> str:
    place = f"{chr(ord('A') + at)}{number}"
    if value is None:
        return ""
    if isinstance(value, tuple):
        return f'<c r="{place}"><f>{escape(value[0])}</f><v>{value[1]}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


def pdf(path: Path, pages: Sequence[Sequence[str]], *, information: str = "") -> Path:
    """Write a PDF with these lines on its pages."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, lines in enumerate(pages):
        shown = "".join(f"({line}) Tj T*\n" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 50 750 Td\n{shown}ET"
        page = f"/Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * n} 0 R"
        objects.append(f"<< /Type /Page /MediaBox [0 0 600 800] {page} >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< {information} >>")
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{one}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    path.write_bytes(out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode())
    return path
