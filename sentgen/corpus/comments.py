"""The order of the comments of a sentence in CoNLL-U, as one letter each: what gives them back as they were.

d  # newdoc id = NAME     s  # sent_id = NAME     t  # text = TEXT
m  # and the next metadata of the sentence        n  the same, without the blank
v  the next comment that is kept verbatim, whose spelling is another one
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sentgen.corpus.markup import comment_key, name_written
from sentgen.corpus.sentence import Region, Sentence

#: Prefix of the keys of document metadata, as in GUM.
OF_DOCUMENT = "meta::"
#: Kinds of regions that begin by a comment: paragraphs and turns.
PARAGRAPH, SPEAKER = "p", "speaker"
_SAID = ("newpar", SPEAKER)
#: Comments with the metadata of the sentence and of the document that begins.
_OWN = frozenset(("newdoc", "newdoc id", "sent_id", "text"))
#: Characters that a comment cannot contain.
BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")
#: The description of a paragraph in GUM, such as `head (1 s)`.
_TYPE = re.compile(r"(\S+) \(\d+ s\)")


def one_line(value: str) -> str:
    """Return a value for a comment, with one blank for each run of white space and controls.

    >>> one_line(" a\\n b")
    'a b'
    """
    return " ".join(BREAKS.sub(" ", value).split())


def comment_of(key: str, value: str) -> str:
    """Return the comment for a key and a value of a sentence's metadata.

    >>> comment_of("genre", "news"), comment_of("a=b", "c")
    ('genre = news', 'a_x003D_b = c')
    """
    return f"{comment_key(key, taken=key in _OWN)} = {value}"


def document_comment(key: str, value: str) -> str:
    """Return the comment for a key and a value of the document that begins.

    >>> document_comment("genre", "news")
    'meta::genre = news'
    """
    return f"{OF_DOCUMENT}{comment_key(key)} = {value}"


def key_and_value(comment: str) -> tuple[str, str] | None:
    """Return key and value of a comment, or ``None`` without a key; keys of a document begin with `meta::`.

    >>> key_and_value("meta::a_x003D_b = c"), key_and_value("checked by hand")
    (('meta::a=b', 'c'), None)
    """
    key, equals, value = comment.partition("=")
    return (name_written(key.strip()), value.strip()) if equals else None


def of_document(metadata: Sequence[str]) -> list[str]:
    """Return the metadata of the document."""
    return [comment for comment in metadata if comment.startswith(OF_DOCUMENT)]


def regions_in_comments(metadata: Sequence[str]) -> Iterator[Region]:
    """Yield the regions that begin with a sentence by its metadata: `newpar id = 7`, `speaker = Ann`.

    >>> [(region.kind, region.attributes) for region in regions_in_comments(["newpar", "speaker = Ann"])]
    [('p', ()), ('speaker', (('name', 'Ann'),))]
    """
    for comment in metadata:
        if not comment.startswith(_SAID):
            continue
        key, _, value = (part.strip() for part in comment.partition("="))
        if key == "newpar id":
            yield Region(PARAGRAPH, (("id", value),))
        elif key == "newpar":
            match = _TYPE.fullmatch(value)
            yield Region(PARAGRAPH, (("type", match[1] if match else value),) if value else ())
        elif key == SPEAKER and value:
            yield Region(SPEAKER, (("name", value),))


def letters_of(
    comments: Sequence[str], sentence: Sentence, document: str | None
) -> tuple[str, tuple[str, ...]]:
    """Return the letters of a sentence's comments, and the comments to keep verbatim."""
    named = {
        f"# {key} = {value}": letter
        for letter, key, value in (
            ("d", "newdoc id", document),
            ("s", "sent_id", sentence.sent_id),
            ("t", "text", sentence.text),
        )
        if value
    }
    letters, verbatim = [], []
    rest = iter(sentence.metadata)
    following = next(rest, None)
    for comment in comments:
        letter = named.get(comment)
        # Metadata are in the order of the comments: a comment that is not the next metadata is no metadata.
        if letter is None and following is not None and comment[1:].removeprefix(" ") == following:
            letter = "m" if comment[1:2] == " " else "n"
            following = next(rest, None)
        if letter is None:
            letter = "v"
            verbatim.append(comment)
        letters.append(letter)
    return "".join(letters), tuple(verbatim)


def usual_letters(*, document: bool, sent_id: bool, text: bool, metadata: int) -> str:
    """Return the letters of the usual order of comments, for a sentence whose order is not known.

    >>> usual_letters(document=True, sent_id=True, text=False, metadata=2)
    'dsmm'
    """
    return "d" * document + "s" * sent_id + "t" * text + "m" * metadata


def write_comments(
    letters: str, *, document: str, sent_id: str, text: str, metadata: Sequence[str], verbatim: Sequence[str]
) -> Iterator[str]:
    """Yield the comments in the order of the letters."""
    others, verbatim_comments = iter(metadata), iter(verbatim)
    named = {"d": f"# newdoc id = {document}", "s": f"# sent_id = {sent_id}", "t": f"# text = {text}"}
    for letter in letters:
        if letter in named:
            yield named[letter]
        elif letter == "v":
            yield next(verbatim_comments)
        else:
            yield f"# {next(others)}" if letter == "m" else f"#{next(others)}"
