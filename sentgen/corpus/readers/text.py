"""Raw text: paragraphs are found, split into sentences, and tokenised.

English is tokenised as in the Penn Treebank, other languages at the word boundaries of Unicode.

A text is *hard-wrapped* if none of its first 1,000 lines is longer than 120 characters and most of its line
breaks inside a block (lines between blank lines) follow no final punctuation: then a block is a paragraph.
Otherwise every line is one. Tokens are spelled as in the text; `text` keeps the sentence, with the line
breaks of a wrapped paragraph as spaces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, islice, pairwise

import sentencex

from sentgen.corpus.reader import ENGLISH, Item, Reader
from sentgen.corpus.readers._columns import finish_sentence, in_documents
from sentgen.corpus.sentence import FINAL_MARKS, RawText, Sentence
from sentgen.corpus.tokenizer import tokenize
from sentgen.corpus.validation import LIMITS
from sentgen.errors import Rejection

_SAMPLE_LINES, _WRAP_WIDTH = 1_000, 120
_LINE_ENDS = (*FINAL_MARKS, *":;\"'”’)]")
#: Vertical tab, form feed, the separators of ASCII, NEL, line separator and paragraph separator.
_BLANKS = re.compile("[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
#: A wrapped paragraph of more characters is cut at a line break where a sentence seems to end; one of twice
#: as many, at any line break.
_PARAGRAPH = 200_000
#: A sentence with more characters for each token of the limit is refused before it is tokenised.
_CHARACTERS_PER_TOKEN = 50


def read(lines: Iterable[str], *, path: str, language: str = ENGLISH) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a text, each with the line on which it begins."""
    return in_sentences(read_raw(lines, path=path), path=path, language=language)


def in_sentences(
    items: Iterable[Item],
    *,
    path: str,
    language: str = ENGLISH,
) -> Iterator[Sentence | Rejection]:
    """Yield the sentences among the items, and those of the raw texts among them, each in its document."""
    return in_documents(
        (
            item,
            tokenize_raw(item, path=path, language=language) if isinstance(item, RawText) else (item,),
        )
        for item in items
    )


def read_raw(lines: Iterable[str], *, path: str) -> Iterator[RawText]:
    """Yield the paragraphs of a text, for a parser with a tokeniser of its own."""
    for first, paragraph in _paragraphs(lines):
        starts = accumulate((len(line) + 1 for line in paragraph[:-1]), initial=0)
        yield RawText(" ".join(paragraph), first, tuple(starts))


def tokenize_raw(raw: RawText, *, path: str, language: str = ENGLISH) -> Iterator[Sentence | Rejection]:
    """Yield the sentences of a raw text."""
    if language == ENGLISH and raw.language:
        language = raw.language
    pieces = [(0, raw.text)] if raw.whole else split_sentences(raw.text, language)
    for offset, text in pieces:
        yield _sentence(text, path=path, line=raw.line_at(offset), language=language)


def _sentence(text: str, *, path: str, line: int, language: str) -> Sentence | Rejection:
    most = _CHARACTERS_PER_TOKEN * LIMITS.sentence_tokens
    if len(text) > most:
        return Rejection(path, line, "", "sentence-length", f"a sentence of more than {most} characters")
    longest = max(map(len, text.split()), default=0)
    if language == ENGLISH and longest > LIMITS.field_length:
        # The tokeniser takes quadratic time on a long run of quotation marks.
        message = f"{longest} characters without a space; the limit is {LIMITS.field_length}"
        return Rejection(path, line, "", "field-length", message)
    if language == ENGLISH:
        forms = tokenize(text)
    else:
        # Imported here, as `regex` takes a while to import.
        from sentgen.corpus.word_breaks import split_words

        forms = split_words(text, language)
    sentence = Sentence(forms, space_after=_spaces(text, forms), text=text, line=line)
    return finish_sentence(sentence, path)


def blank_separators(text: str) -> str:
    """Return a raw text of the same length with spaces for the controls and separators that are blanks.

    >>> blank_separators("a\\fb\\x85c\\u2028d")
    'a b c d'
    """
    return _BLANKS.sub(" ", text)


def _paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    stream = iter(lines)
    # The sample decides for the whole text, as a stream cannot be read twice.
    sample = list(islice(stream, _SAMPLE_LINES))
    wrapped = _is_wrapped(sample)
    block: list[str] = []
    size = 0
    number = 0
    for number, line in enumerate(chain(sample, stream), 1):
        text = blank_separators(line).strip()
        if block and (not text or not wrapped or _is_full(size, block[-1])):
            yield number - len(block), block
            block, size = [], 0
        if text:
            block.append(text)
            size += len(text)
    if block:
        yield number + 1 - len(block), block


def _is_full(size: int, last: str) -> bool:
    """Return whether a paragraph is cut after the line ``last``, so that memory is bounded."""
    return size > _PARAGRAPH and (last.endswith((".", "!", "?")) or size > 2 * _PARAGRAPH)


def _is_wrapped(lines: list[str]) -> bool:
    """Return whether a sample of lines is hard-wrapped text (see the module).

    >>> _is_wrapped(["This is a", "sentence."]), _is_wrapped(["One sentence.", "Another."])
    (True, False)
    """
    breaks = [line.rstrip() for line, after in pairwise(lines) if line.strip() and after.strip()]
    if not breaks or max(map(len, lines)) > _WRAP_WIDTH:
        return False
    return 2 * sum(not line.endswith(_LINE_ENDS) for line in breaks) > len(breaks)


def _spaces(text: str, forms: list[str]) -> list[bool]:
    """Return for each token whether a space follows; the tokens are the text without its blanks."""
    spaces, position = [], len(text) - len(text.lstrip())
    for form in forms:
        end = position + len(form)
        position = end
        while position < len(text) and text[position].isspace():
            position += 1
        spaces.append(position > end)
    if spaces:
        spaces[-1] = True
    return spaces


READER = Reader("text", "3", read_raw, "raw text: split into sentences and tokens", read_raw=read_raw)


#: By language, titles before names after which `sentencex` wrongly ends a sentence.
_TITLES = {"fr": re.compile(r"(?<![\w-])(?:MM?|Mmes?|Mlles?|Mgr|Drs?|Prs?|[Pp]rof|Ste?)\.\s*$")}
#: Most characters of such a title.
_TITLE = 10
#: The number of a heading, or of an item of a list.
_NUMBER = re.compile(r"\s*\d{1,3}\.\s*")

_BOTH = "'’‘`´\"＂“«‹»›"
_OPENING, _CLOSING = r"„‚‛‟(\[{<（《「『【", r"”)\]}>）》」』】"
#: References such as `[12]`, which are kept, or (group 1) a quote or bracket, but no apostrophe in a word.
_SIGNS = re.compile(rf"(?:\[\d{{1,3}}\])+|(['’‘`´](?!\w)|(?<!\w)['’‘`´]|[\"＂“«‹»›{_OPENING}{_CLOSING}])")
#: A quote before a full stop, which shows that *"no".* is no abbreviation.
_BEFORE_STOP = re.compile(r"[\"'”’»)](?=\.)")
#: Signs after a sentence that belong to it; in »so.«, the closing quote is one that opens quotes elsewhere.
_CLOSES = re.compile(rf"(?:[{_CLOSING}'’\"＂]|[{_BOTH}](?!\w))*(?:\s+[»›{_CLOSING}]+(?=\s|\Z))?")
_BLANK, _WORD = re.compile(r"\s"), re.compile(r"\w")
#: Characters that are segmented at once, as `sentencex` takes quadratic time on some scripts; and how many
#: of the last of these are segmented again, with the text after them.
_WINDOW, _AHEAD = 4_000, 400


def split_sentences(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Yield the stripped, non-empty sentences of a paragraph with their offsets.

    `sentencex` finds sentences by their final punctuation, and knows the abbreviations of many languages; but
    it ends none inside quotes and brackets, so that a quote of a page is a sentence of a page, and an inch
    sign or an apostrophe that looks like a quote joins all sentences up to the next. So it gets the text
    without these signs: a closing sign belongs to the sentence before it, an opening one to the next.
    References such as `[12]`, which it handles, stay in the text.

    >>> list(split_sentences('He said: "It is so. I saw it." Then he left.', "en"))
    [(0, 'He said: "It is so.'), (20, 'I saw it."'), (31, 'Then he left.')]
    """
    begin = end = 0
    for further in _ends(text, language):
        # A piece without a letter or digit is no sentence, and is joined to the one before it.
        if end and _WORD.search(text, end, further) and not _goes_on(text, begin, end, language):
            yield from _strip(text, begin, end)
            begin = end
        end = further
    yield from _strip(text, begin, end)


def _goes_on(text: str, begin: int, end: int, language: str) -> bool:
    """Return whether a piece is a number or ends with a title, and so belongs to the next piece."""
    title = _TITLES.get(language)
    return _NUMBER.fullmatch(text, begin, end) is not None or (
        title is not None and title.search(text, max(begin, end - _TITLE), end) is not None
    )


def _strip(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    if sentence := text[begin:end].strip():
        yield text.index(sentence, begin), sentence


def _ends(text: str, language: str) -> Iterator[int]:
    """Yield the offsets at which sentences end, in linear time for any text."""
    begin, size = 0, _WINDOW
    while begin < len(text):
        window = text[begin : begin + size]
        ends = list(_ends_within(window, language))
        if begin + size < len(text):
            ends = [end for end in ends if end <= size - _AHEAD]
        yield from (begin + end for end in ends)
        if ends:
            begin, size = begin + ends[-1], _WINDOW
        else:
            size *= 2


def _ends_within(window: str, language: str) -> Iterator[int]:
    """Yield the offsets at which sentences end in a window; the last is the end of the window."""
    # Spaces for blanks of all kinds: some make sentencex panic, and a line feed is to end no sentence.
    plain = _BLANK.sub(" ", _BEFORE_STOP.sub("_", window))
    signs = [match.start() for match in _SIGNS.finditer(plain) if match[1]]
    bare = "".join(plain[left + 1 : right] for left, right in pairwise((-1, *signs, len(plain))))
    # Characters of the bare text before each sign, to map offsets in it to the window.
    before = [sign - number for number, sign in enumerate(signs)]
    at = 0
    for piece in sentencex.segment(language, bare):
        last = at + len(piece.rstrip()) - 1
        at += len(piece)
        if at == len(bare) or piece.isspace():
            continue
        after = last + bisect_right(before, last) + 1
        following = at + bisect_right(before, at)
        match = _CLOSES.match(window, after)
        assert match is not None
        # No end in: "Really?" he said.
        if match.end() == after or not window[following].islower():
            yield match.end()
    yield len(window)
