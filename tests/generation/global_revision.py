"""Figure 1 of Wan et al. 2007, the three source sentences parsed by hand, and other texts of our own."""

from __future__ import annotations

from sentgen.corpus.sentence import Sentence

_FIGURE_1 = """
1 There there PRON EX 2 expl
2 are be VERB VBP 0 root
3 presently presently ADV RB 2 advmod
4 an a DET DT 9 det
5 estimated estimate VERB VBN 9 amod
6 130,000 130,000 NUM CD 9 nummod
7 internally internally ADV RB 8 advmod
8 displaced displace VERB VBN 9 amod
9 persons person NOUN NNS 2 nsubj
10 ( ( PUNCT -LRB- 11 punct
11 IDPs IDP NOUN NNS 9 appos
12 ) ) PUNCT -RRB- 11 punct
13 in in ADP IN 15 case
14 established establish VERB VBN 15 amod
15 camps camp NOUN NNS 9 nmod
16 . . PUNCT . 2 punct

1 The the DET DT 2 det
2 condition condition NOUN NN 22 nsubj
3 of of ADP IN 7 case
4 an a DET DT 7 det
5 estimated estimate VERB VBN 7 amod
6 200,000 200,000 NUM CD 7 nummod
7 people people NOUN NNS 2 nmod
8 left leave VERB VBN 7 acl
9 behind behind ADV RB 8 advmod
10 in in ADP IN 12 case
11 inaccessible inaccessible ADJ JJ 12 amod
12 areas area NOUN NNS 8 obl
13 with with ADP IN 15 case
14 inadequate inadequate ADJ JJ 15 amod
15 access access NOUN NN 8 obl
16 to to ADP IN 17 case
17 food food NOUN NN 15 nmod
18 or or CCONJ CC 19 cc
19 shelter shelter NOUN NN 17 conj
20 is be AUX VBZ 22 cop
21 much much ADV RB 22 advmod
22 worse bad ADJ JJR 0 root
23 . . PUNCT . 22 punct

1 Conditions condition NOUN NNS 6 nsubj
2 in in ADP IN 4 case
3 conflict conflict NOUN NN 4 compound
4 areas area NOUN NNS 1 nmod
5 will will AUX MD 6 aux
6 worsen worsen VERB VB 0 root
7 as as SCONJ IN 11 mark
8 the the DET DT 10 det
9 winter winter NOUN NN 10 compound
10 storms storm NOUN NNS 11 nsubj
11 approach approach VERB VBP 6 advcl
12 . . PUNCT . 6 punct
"""


def parsed(block: str) -> Sentence:
    """Read a sentence, a word a line: number, form, lemma, tags of UD and of the Penn Treebank, head, relation."""
    rows = [line.split() for line in block.strip().splitlines()]
    _, forms, lemmas, upos, xpos, heads, relations = (list(column) for column in zip(*rows, strict=True))
    return Sentence(
        forms, lemmas=lemmas, upos=upos, xpos=xpos, heads=[int(head) for head in heads], deprels=relations
    )


#: The key sentence, and the related ones.
KEY, CONDITION, CONFLICT = (parsed(block) for block in _FIGURE_1.strip().split("\n\n"))
