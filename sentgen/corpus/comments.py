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

#: Begins the key of metadata that is said of the document, as GUM has it.
OF_DOCUMENT = "meta::"
#: Kinds of regions that comments tell of: paragraphs and turns.
PARAGRAPH, SPEAKER = "p", "speaker"
_SAID = ("newpar", SPEAKER)
#: What a sentence and the document that begins say of themselves.
_OWN = frozenset(("newdoc", "newdoc id", "sent_id", "text"))
#: What cannot stand in a comment.
BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")
#: What GUM says of a paragraph, such as `head (1 s)`.
_TYPE = re.compile(r"(\S+) \(\d+ s\)")


def one_line(value: str) -> str:
    """Return a value as it can stand in a comment, with one blank for all white space and controls.

    >>> one_line(" a\\n b")
    'a b'
    """
    return " ".join(BREAKS.sub(" ", value).split())


def comment_of(key: str, value: str) -> str:
    """Return a comment that says something of a sentence.

    >>> comment_of("genre", "news"), comment_of("a=b", "c")
    ('genre = news', 'a_x003D_b = c')
    """
    return f"{comment_key(key, taken=key in _OWN)} = {value}"


def document_comment(key: str, value: str) -> str:
    """Return a comment that says something of the document that begins.

    >>> document_comment("genre", "news")
    'meta::genre = news'
    """
    return f"{OF_DOCUMENT}{comment_key(key)} = {value}"


def key_and_value(comment: str) -> tuple[str, str] | None:
    """Return what a comment says, or ``None`` if it has no key; that of a document begins with `meta::`.

    >>> key_and_value("meta::a_x003D_b = c"), key_and_value("checked by hand")
    (('meta::a=b', 'c'), None)
    """
    key, equals, value = comment.partition("=")
    return (name_written(key.strip()), value.strip()) if equals else None


def of_document(metadata: Sequence[str]) -> list[str]:
    """Return the metadata that is said of the document."""
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
    """Return the letters of comments that were read into a sentence, and those to keep verbatim."""
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
        # Metadata is in the order of the comments, so that those that are none are told by what comes next.
        if letter is None and following is not None and comment[1:].removeprefix(" ") == following:
            letter = "m" if comment[1:2] == " " else "n"
            following = next(rest, None)
        if letter is None:
            letter = "v"
            verbatim.append(comment)
        letters.append(letter)
    return "".join(letters), tuple(verbatim)


def usual_letters(*, document: bool, sent_id: bool, text: bool, metadata: int) -> str:
    """Return the letters of a sentence whose order of comments is not known, or as usual.

    >>> usual_letters(document=True, sent_id=True, text=False, metadata=2)
    'dsmm'
    """
    return "d" * document + "s" * sent_id + "t" * text + "m" * metadata


def write_comments(
    letters: str, *, document: str, sent_id: str, text: str, metadata: Sequence[str], verbatim: Sequence[str]
) -> Iterator[str]:
    """Yield the comments that the letters stand for."""
    others, verbatim_comments = iter(metadata), iter(verbatim)
    named = {"d": f"# newdoc id = {document}", "s": f"# sent_id = {sent_id}", "t": f"# text = {text}"}
    for letter in letters:
        if letter in named:
            yield named[letter]
        elif letter == "v":
            yield next(verbatim_comments)
        else:
            yield f"# {next(others)}" if letter == "m" else f"#{next(others)}"
