"""Ingest TEI: 100 novels, for their memory, and some of them beside plain text and beside words.

``python benchmarks/tei_ingestion.py [MEGABYTES]`` makes novels of two of ELTeC, each as long as its share of all, with
ids of their own; a tenth of them is also read as plain text, a paragraph a line, and as words (level 2).
"""

from __future__ import annotations

import gzip
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import OUT, SENTGEN, Usage, data, fresh, measure, megabytes, show
from lxml import etree

NOVELS = 100
ROUNDS = 3
_TEXTS = ("ENG18872_Lyall.xml", "ENG19011_Jerome.xml")
_WORDS = "ENG18872_Lyall.level2.xml.gz"
_BODY = re.compile(r"<body>(.*)</body>", re.DOTALL)
_PARAGRAPHS = etree.XPath(
    "//t:text//*[self::t:p or self::t:head or self::t:l]", namespaces={"t": "http://www.tei-c.org/ns/1.0"}
)


def main(size: int) -> None:
    each = size * 1_000_000 // NOVELS
    texts = [_novel(data(f"formats/eltec/{name}").read_text("utf-8"), each) for name in _TEXTS]
    tagged = gzip.decompress(data(f"formats/eltec/{_WORDS}").read_bytes()).decode()
    # As often as the same novel in text, so that there are as many tokens.
    words = _novel(tagged, each * len(tagged) // data(f"formats/eltec/{_TEXTS[0]}").stat().st_size)
    plain = [
        "\n\n".join(
            " ".join("".join(one.itertext()).split()) for one in _PARAGRAPHS(etree.fromstring(text.encode()))
        )
        for text in texts
    ]
    folders = {
        "TEI": _folder("tei", [text.encode() for text in texts], ".xml", NOVELS // 10),
        "plain text": _folder("tei-text", [text.encode() for text in plain], ".txt", NOVELS // 10),
        "TEI with words": _folder("tei-words", [words.encode()], ".xml", NOVELS // 10),
    }
    rows, best = [], dict[str, float]()
    for number in range(1, ROUNDS + 1):
        for name, folder in folders.items():
            used, tokens = _ingested(folder)
            best[name] = max(best.get(name, 0.0), tokens / used.cpu)
            rows.append(
                (
                    f"{name}, {NOVELS // 10} novels, {number}",
                    tokens,
                    used.cpu,
                    int(tokens / used.cpu),
                    megabytes(used.peak),
                )
            )
    used, tokens = _ingested(_folder("tei", [text.encode() for text in texts], ".xml", NOVELS))
    rows.append(
        (f"TEI, {NOVELS} novels ({size} MB)", tokens, used.cpu, int(tokens / used.cpu), megabytes(used.peak))
    )
    show("TEI: stored and counted", ("corpus", "tokens", "CPU s", "tokens/CPU s", "peak MB"), rows)
    for name in ("TEI", "TEI with words"):
        print(
            f"{name}: {best[name] / best['plain text']:.2f} times the tokens per CPU second of plain text, best of {ROUNDS}"
        )


def _novel(text: str, size: int) -> str:
    """Return a novel that is so long: its body again and again."""
    body = _BODY.search(text)
    assert body is not None
    times = max(1, round((size - len(text.encode())) / len(body[1].encode())) + 1)
    return text[: body.start(1)] + body[1] * times + text[body.end(1) :]


def _folder(name: str, texts: Sequence[bytes], extension: str, novels: int) -> Path:
    """Write novels, and return their folder."""
    folder = OUT / f"{name}-{novels}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number in range(novels):
        # Each is a content of its own.
        text = texts[number % len(texts)].replace(b'xml:id="ENG', f'xml:id="N{number}.'.encode())
        text = text if extension == ".xml" else text + f"\n\nNovel {number}.\n".encode()
        (folder / f"{number:03}{extension}").write_bytes(text)
    return folder


def _ingested(folder: Path) -> tuple[Usage, int]:
    used = measure([SENTGEN, "ingest", str(folder), "--corpus", "n", "--db", str(fresh("tei"))])
    found = re.search(r"^tokens +([\d,]+)", used.output, re.MULTILINE)
    assert found is not None, used.output
    return used, int(found[1].replace(",", ""))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 72)
