"""Penn Treebank trees (`.mrg`): dependencies by head rules, base noun phrases, tags.

Empty elements are dropped with the constituents that they leave empty. A base noun phrase is an NP (or WHNP)
that contains no other, except that a possessive one (`the market 's`) is part of the NP around it, as in the
bracketed files of the treebank. Trees may span lines; a line that begins a new tree (`( (`, `(TOP`, `(ROOT`,
`(S1` in its first column) ends an unfinished one, which is rejected.
Forms lose the Penn escapes: `1\\/2` is read as `1/2`, `-LRB-` as `(`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sentgen.corpus.reader import Reader
from sentgen.corpus.readers._columns import FormatError, finish_sentence
from sentgen.corpus.sentence import Sentence
from sentgen.corpus.validation import LIMITS
from sentgen.errors import Rejection

_SYMBOLS = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}", "-LSB-": "[", "-RSB-": "]"}
_TAGS = {"(": "-LRB-", ")": "-RRB-"}


def plain(form: str) -> str:
    r"""Return a word without the escapes of the Penn Treebank.

    >>> plain("1\\/2"), plain("-LRB-")
    ('1/2', '(')
    """
    if form in _SYMBOLS:
        return _SYMBOLS[form]
    return form.replace("\\/", "/").replace("\\*", "*") if "\\" in form else form


def plain_tag(tag: str) -> str:
    """Return a tag as the combined files write it; the tagged files have `(` for `-LRB-`."""
    return _TAGS.get(tag, tag)


#: By label of the constituent: the side from which the children are searched, for each of the labels in turn.
_RULES: dict[str, tuple[str, tuple[str, ...]]] = {
    label: (side, tuple(priorities.split()))
    for label, side, priorities in (
        ("ADJP", "left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
        ("ADVP", "right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
        ("CONJP", "right", "CC RB IN"),
        ("FRAG", "right", ""),
        ("INTJ", "left", ""),
        ("LST", "right", "LS :"),
        ("NAC", "left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
        ("PP", "right", "IN TO VBG VBN RP FW"),
        ("PRN", "left", ""),
        ("PRT", "right", "RP"),
        ("QP", "left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
        ("RRC", "right", "VP NP ADVP ADJP PP"),
        ("S", "left", "TO IN VP S SBAR ADJP UCP NP"),
        ("SBAR", "left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
        ("SBARQ", "left", "SQ S SINV SBARQ FRAG"),
        ("SINV", "left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
        ("SQ", "left", "VBZ VBD VBP VB MD VP SQ"),
        ("UCP", "right", ""),
        ("VP", "left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
        ("WHADJP", "left", "CC WRB JJ ADJP"),
        ("WHADVP", "right", "CC WRB"),
        ("WHNP", "left", "WDT WP WP$ WHADJP WHPP WHNP"),
        ("WHPP", "right", "IN TO FW"),
    )
}
_NOUN_LIKE = frozenset({"NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"})
#: Steps for an NP without noun-like children: the side, and the labels, which are searched as one set.
_NP_STEPS = (
    ("left", frozenset({"NP"})),
    ("right", frozenset({"$", "ADJP", "PRN"})),
    ("right", frozenset({"CD"})),
    ("right", frozenset({"JJ", "JJS", "RB", "QP"})),
)
_PUNCTUATION = frozenset({"''", "``", ",", ".", ":", "-LRB-", "-RRB-"})


def head_child(label: str, children: Sequence[str]) -> int:
    """Return the index of the head among the labels of the children (never empty).

    Punctuation is the head only if there is nothing else. If a conjunction precedes the head, the conjunct
    before the conjunction is the head instead. Time: children times priorities.

    >>> head_child("NP", ["DT", "JJ", "NN"]), head_child("NP", ["NP", "CC", "NP"])
    (2, 0)
    """
    words = [index for index, child in enumerate(children) if child not in _PUNCTUATION]
    if not words:
        return 0
    labels = [children[index] for index in words]
    head = _np_head(labels) if label in ("NP", "NX") else _table_head(label, labels)
    if head >= 2 and labels[head - 1] in ("CC", "CONJP"):
        head -= 2
    return words[head]


def _table_head(label: str, labels: list[str]) -> int:
    side, priorities = _RULES.get(label, ("left", ()))
    for wanted in priorities:
        if wanted in labels:
            return labels.index(wanted) if side == "left" else _last(labels, frozenset({wanted}))
    return 0 if side == "left" else len(labels) - 1


def _np_head(labels: list[str]) -> int:
    if labels[-1] == "POS":
        return len(labels) - 1
    index = _last(labels, _NOUN_LIKE)
    if index >= 0:
        return index
    for side, wanted in _NP_STEPS:
        indices = [index for index, label in enumerate(labels) if label in wanted]
        if indices:
            return indices[0] if side == "left" else indices[-1]
    return len(labels) - 1


def _last(labels: list[str], wanted: frozenset[str]) -> int:
    return next((i for i in range(len(labels) - 1, -1, -1) if labels[i] in wanted), -1)


_PIECE = re.compile(r"[()]|[^()\s]+")
_NEW_TREE = re.compile(r"\(\s*(\(|(TOP|ROOT|S1)\b|$)")
_PHRASES = frozenset({"NP", "WHNP"})
#: Most brackets and words for each token; a tree with more is refused as too long.
_PIECES_PER_TOKEN = 100


@dataclass(slots=True)
class _Node:
    """An open constituent; ``children`` are the labels and head positions of its closed children."""

    start: int
    label: str = ""
    word: str = ""
    children: list[tuple[str, int]] = field(default_factory=list)
    has_np: bool = False


@dataclass(slots=True)
class _Tree:
    """A tree being read: tokens and heads of its closed constituents, and a stack of the open ones."""

    line: int
    stack: list[_Node] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    pieces: int = 0

    def add(self, piece: str) -> bool:
        """Take a bracket or a word; return whether the tree is complete."""
        self.pieces += 1
        if piece == "(":
            if self.stack and self.stack[-1].word:
                raise FormatError("bracket", "a bracket after a word inside the same brackets")
            self.stack.append(_Node(len(self.forms)))
        elif piece == ")":
            self._close(self.stack.pop())
            return not self.stack
        else:
            node = self.stack[-1]
            if node.children or node.word:
                raise FormatError("bracket", f"the word {piece[:40]!r} is not in brackets of its own")
            if node.label:
                node.word = piece
            else:
                node.label = piece
        return False

    def _close(self, node: _Node) -> None:
        label = _category(node.label)
        if node.word:
            # An empty element is dropped, and its constituent with it if nothing else is inside.
            if label == "-NONE-":
                return
            self.forms.append(plain(node.word))
            self.tags.append(plain_tag(node.label))
            self.heads.append(0)
            head = len(self.forms)
        elif node.children:
            head = self._attach(label, node.children)
        else:
            return
        is_np = label in _PHRASES and not node.word
        if is_np and not node.has_np:
            while self.spans and self.spans[-1][0] >= node.start:
                # A base phrase inside this one can only be a possessive, as `has_np` is false.
                self.spans.pop()
            self.spans.append((node.start, len(self.forms)))
        if self.stack:
            parent = self.stack[-1]
            parent.children.append((label, head))
            parent.has_np |= node.has_np or (is_np and self.tags[-1] != "POS")

    def _attach(self, label: str, children: list[tuple[str, int]]) -> int:
        """Attach the head words of the other children to that of the head child; return its position."""
        head = children[head_child(label, [name for name, _ in children])][1]
        for _, position in children:
            if position != head:
                self.heads[position - 1] = head
        return head

    def sentence(self) -> Sentence:
        nps = [0] * len(self.forms)
        for number, (start, end) in enumerate(self.spans, 1):
            nps[start:end] = [number] * (end - start)
        return Sentence(self.forms, xpos=self.tags, heads=self.heads, nps=nps, line=self.line)


def _category(label: str) -> str:
    """Return a label without functions and indices: `NP` of `NP-SBJ=2`; `-LRB-` stays as it is."""
    cut = len(label)
    # From the second character on: a label may begin with one of the marks.
    for mark in "-=|":
        index = label.find(mark, 1)
        if index > 0:
            cut = min(cut, index)
    return label if label.startswith("-") else label[:cut]


def read(lines: Iterable[str], *, path: str) -> Iterator[Sentence | Rejection]:
    """Yield a sentence for every tree; after a broken tree, read on where the next tree begins."""
    tree: _Tree | None = None
    skipping = False
    most = _PIECES_PER_TOKEN * LIMITS.sentence_tokens
    for number, line in enumerate(lines, 1):
        if line.startswith("(") and (skipping or tree) and _NEW_TREE.match(line):
            if tree:
                yield Rejection(
                    path, tree.line, "", "bracket", "the tree ends before its last bracket closes"
                )
            tree, skipping = None, False
        for match in _PIECE.finditer(line):
            if skipping:
                break
            if tree is None:
                if match[0] != "(":
                    yield Rejection(path, number, "", "bracket", f"{match[0][:40]!r} outside of a tree")
                    skipping = True
                    break
                tree = _Tree(number)
            try:
                done = tree.add(match[0])
            except FormatError as error:
                yield Rejection(path, number, "", error.check_id, error.message)
                tree, skipping = None, True
                break
            if done:
                yield finish_sentence(tree.sentence(), path)
                tree = None
            elif tree.pieces > most:
                yield Rejection(path, tree.line, "", "sentence-length", f"a tree of more than {most} pieces")
                tree, skipping = None, True
    if tree:
        yield Rejection(path, tree.line, "", "bracket", "the tree ends before its last bracket closes")


READER = Reader(
    "mrg",
    "1",
    read,
    "Penn Treebank trees",
    (".mrg",),
    lambda sample: re.match(r"\(\s*(\(|[A-Z0-9]+\b|$)", sample[0]) is not None,
    trees=True,
)
