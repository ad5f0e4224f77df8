"""Which child of a Penn Treebank constituent is its head (Collins 1999, appendix A)."""

from __future__ import annotations

from collections.abc import Sequence

#: label -> (direction, priorities): for each label in turn, search the children from that side.
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
#: NP, after the noun-like children: (direction, labels), each searched as one set.
_NP_STEPS = (
    ("left", frozenset({"NP"})),
    ("right", frozenset({"$", "ADJP", "PRN"})),
    ("right", frozenset({"CD"})),
    ("right", frozenset({"JJ", "JJS", "RB", "QP"})),
)
_PUNCTUATION = frozenset({"''", "``", ",", ".", ":", "-LRB-", "-RRB-"})


def head_child(label: str, children: Sequence[str]) -> int:
    """Return the index of the head among the labels of the children (never empty).

    Punctuation is the head only of nothing else. A head that a conjunction precedes gives way to the
    conjunct before it. Time: children times priorities.

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
    found = _last(labels, _NOUN_LIKE)
    if found >= 0:
        return found
    for side, wanted in _NP_STEPS:
        indices = [index for index, label in enumerate(labels) if label in wanted]
        if indices:
            return indices[0] if side == "left" else indices[-1]
    return len(labels) - 1


def _last(labels: list[str], wanted: frozenset[str]) -> int:
    return next((i for i in range(len(labels) - 1, -1, -1) if labels[i] in wanted), -1)
