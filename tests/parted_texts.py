"""Twelve texts whose metadata part them: by genre, by author and by time."""

from __future__ import annotations

from dataclasses import dataclass

GENRES = ("news", "fiction", "letter")
AUTHORS = ("Ann Lee", 'Bo "B." Ray', "Cy\\Fox")
WORDS = ("rain", "fell", "on", "the", "camp", "all", "night")


@dataclass(frozen=True)
class Text:
    """A text: its metadata, and sentences of words."""

    name: str
    meta: dict[str, str]
    sentences: tuple[tuple[str, ...], ...]

    @property
    def tokens(self) -> int:
        """How many words it has."""
        return sum(map(len, self.sentences))


def _text(number: int) -> Text:
    meta = {
        "genre": GENRES[number % 3],
        "title": f"Text {number}",
        "date": f"{1990 + number // 2}-0{1 + number % 9}-01",
        "year": str(1700 + 13 * number),
    }
    if number % 4:
        meta["s_author"] = AUTHORS[number % 3]
    sentences = tuple((*WORDS[: 2 + (number + one) % 5], ".") for one in range(1 + number % 3))
    return Text(f"text-{number:02}-with-a-name-of-forty-letters-or-more", meta, sentences)


TEXTS = tuple(_text(number) for number in range(12))


def conllu() -> str:
    """The texts as CoNLL-U."""
    lines = list[str]()
    for text in TEXTS:
        lines.append(f"# newdoc id = {text.name}")
        lines += [f"# meta::{key} = {value}" for key, value in text.meta.items()]
        for number, words in enumerate(text.sentences, 1):
            lines.append(f"# sent_id = {text.name}-{number}")
            for place, word in enumerate(words, 1):
                tag = "PUNCT" if word == "." else "NOUN"
                head, relation = (0, "root") if place == 1 else (1, "dep")
                lines.append(f"{place}\t{word}\t{word}\t{tag}\t{tag}\t_\t{head}\t{relation}\t_\t_")
            lines.append("")
    return "\n".join([*lines, ""])
