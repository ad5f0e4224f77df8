"""Vectors of words: what the company of each word says of it, in few numbers."""

from __future__ import annotations

from sqlalchemy import ARRAY, REAL, BigInteger, DateTime, Double, Integer, String, Table

from sentgen.schema.base import column, key, metadata

vector_space = Table(
    "vector_space",
    metadata,
    key("Number of the space."),
    column("name", String, "Name of the space.", unique=True),
    column("corpora", String, "Names of the corpora that it was built from, one a line."),
    column(
        "contexts",
        String,
        "What counts as company: window, dependencies (relation and word at its other end), or both.",
    ),
    column("reach", Integer, "Words on each side that are company."),
    column("dimensions", Integer, "Numbers of each vector."),
    column("min_count", Integer, "Rarer words have no vector."),
    column("smoothing", Double, "Power of the counts of contexts in PPMI."),
    column("shift", Double, "Divisor of the probabilities of PPMI: its logarithm is taken from each cell."),
    column("power", Double, "Power of the singular values that the dimensions are multiplied by."),
    column("seed", Integer, "Seed of the decomposition."),
    column("tokens", BigInteger, "Tokens that were counted."),
    column("words", BigInteger, "Words with a vector."),
    column("cells", BigInteger, "Pairs of word and context that were counted."),
    column("created_at", DateTime, "When it was built (UTC)."),
    comment="A named set of word vectors: PPMI of words with their company, by truncated SVD.",
)

word_vector = Table(
    "word_vector",
    metadata,
    column("space_id", Integer, "Space of the vector."),
    column("rank", Integer, "Place of the word by frequency, from 1."),
    column("form", String, "The word, in lower case."),
    column("count", BigInteger, "How often it occurs."),
    column("components", ARRAY(REAL), "The vector, of length 1: inner products are cosines."),
    comment="A vector of a word, the most frequent words first.",
)

#: Tables whose rows belong to a space.
OF_SPACE = (word_vector,)
