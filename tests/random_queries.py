"""Random queries in CQL, over a few words, tags and kinds of regions."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS, TAGS = ("a", "b", "A", "ab"), ("N", "V", "Number=Sing", "Number=Plur|X=a")
CONDITIONS = (
    'word="a"', 'lemma="b"', 'lemma!="a"', 'upos="N"', 'upos!="N"', 'Number="Sing"', 'Number!="Sing"',
    'word="[ab]"', 'word="a"%c', 'word="ab"', 'word="aba"%c', 'word="ba"', 'lemma=".*"', 'lemma=""', 'word=lemma', 'word!=lemma', 'X="a|b"', 'pos="N"',
)  # fmt: skip


def composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Conditions of conditions."""
    pairs = st.tuples(inner, st.sampled_from(("&", "|", "->")), inner).map(
        lambda one: f"({one[0]} {one[1]} {one[2]})"
    )
    return st.one_of(pairs, inner.map(lambda one: f"!({one})"))


TOKENS = st.one_of(
    st.just("[]"),
    st.sampled_from((*WORDS, "aab", "aA")).map(lambda one: f'"{one}"'),
    st.recursive(st.sampled_from(CONDITIONS), composed, max_leaves=3).map(lambda one: f"[{one}]"),
)
LABELLED = st.tuples(st.sampled_from(("", "", "x:", "y:")), TOKENS).map("".join)
TESTS = (
    "",
    ' x="a"',
    ' x!="a"',
    ' x="[ab]"',
    ' x="A"%c',
    ' x=""',
    ' x!=".*"',
    ' x!="" & y="b"',
    ' y="b" x="a"',
)
OF_REGIONS = st.tuples(st.sampled_from(("<p{}>", "<q{}>", "<p{}/>", "<q{}/>")), st.sampled_from(TESTS)).map(
    lambda one: one[0].format(one[1])
)
EDGES = st.one_of(
    st.sampled_from(("<s>", "</s>", "<doc>", "</doc>", "<s/>", "<doc/>", "</p>", "</q>")),
    OF_REGIONS,
    OF_REGIONS,
)
TIMES = st.sampled_from(("?", "*", "+", "{2}", "{1,2}", "{2,}", "{0,3}", "{,2}"))
TERMS = ("x.word", "y.lemma", "match.upos", "matchend.word", "x.pos", "match.p_x", "y.q_y")
CONSTRAINTS = st.recursive(
    st.one_of(
        st.tuples(
            st.sampled_from(TERMS), st.sampled_from(("=", "!=")), st.sampled_from((*TERMS, '"a|N"', '".*"'))
        ).map("".join),
        st.sampled_from(("x", "y", "distance(x, y) > 1", "dist(match, y) = 2", "distabs(y, x) != 1")),
    ),
    composed,
    max_leaves=3,
)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Patterns of patterns."""
    several = st.lists(inner, min_size=2, max_size=3)
    pairs = st.tuples(inner, st.sampled_from(("within", "containing", "&")), inner)
    return st.one_of(
        several.map(" ".join),
        several.map(" ".join),
        several.map(lambda parts: f"({' | '.join(parts)})"),
        st.tuples(inner, TIMES).map(lambda one: f"({one[0]}){one[1]}"),
        pairs.map(lambda one: f"(({one[0]}) {one[1]} ({one[2]}))"),
        st.tuples(inner, OF_REGIONS).map(
            lambda one: f"(({one[0]}) within {one[1].replace('/>', '>')[:-1]}/>)"
        ),
        st.tuples(inner, CONSTRAINTS).map(lambda one: f"(({one[0]} x:[]? y:[]?) :: {one[1]})"),
    )


QUERIES = st.recursive(st.one_of(LABELLED, LABELLED, LABELLED, EDGES), larger, max_leaves=6)
