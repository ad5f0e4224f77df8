"""Tables of models (corpora, settings and probabilities, with name and version) and of word vectors."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    DateTime,
    Double,
    Integer,
    SmallInteger,
    String,
    Table,
)

from sentgen.schema.base import column, key, metadata

#: The beginning of names of parameters that note the models from which a model was mixed; their values are
#: the weights.
PARTS = "of: "

model = Table(
    "model",
    metadata,
    key("Number of the model."),
    column("name", String, "Name of the model."),
    column("version", Integer, "Counts the builds under that name, from 1; never used twice."),
    column("max_order", SmallInteger, "Highest order of its n-grams, 1 to 5."),
    column(
        "smoothing",
        String,
        "katz, kneser-ney, stupid-backoff, arpa (imported), mixture, dynamic-mixture, pruned, or scorer.",
    ),
    column("min_count", String, "Lowest count kept per order, joined by commas."),
    column(
        "unknown",
        String,
        "none: no probability for unknown words; word: one <unk>; tag: one <unk:TAG> per tag.",
    ),
    column("vocabulary", BigInteger, "Number of its unigrams, <unk> and </s> included, <s> left out."),
    column("sentences", BigInteger, "Sentences that it was counted from."),
    column("tokens", BigInteger, "Tokens that it was counted from."),
    column("created_at", DateTime, "When it was built (UTC)."),
    comment="A named, versioned set of corpora plus settings.",
)

removed_model = Table(
    "removed_model",
    metadata,
    column("id", Integer, "Number that the model had."),
    column("name", String, "Name that it had."),
    column("version", Integer, "Version that it had; the next build under that name gets a later one."),
    column("removed_at", DateTime, "When it was removed (UTC)."),
    comment="A model that was removed: neither its number nor its version is used again.",
)

model_corpus = Table(
    "model_corpus",
    metadata,
    column("model_id", Integer, "Model."),
    column("corpus_id", Integer, "Corpus that it was built from."),
    column("corpus_name", String, "Name of that corpus when the model was built."),
    column(
        "tokens", BigInteger, "Tokens of the corpus when the model was built; another number now means stale."
    ),
    comment="Which corpora a model was built from.",
)

model_parameter = Table(
    "model_parameter",
    metadata,
    column("model_id", Integer, "Model."),
    column("n", SmallInteger, "Order of n-grams that it belongs to; 0 for all."),
    column("name", String, "Name: a discount such as d1, a count of counts such as n1, or a note."),
    column("value", Double, "Value.", nullable=True),
    comment="What smoothing estimated: counts of counts, discounts, fallbacks taken.",
)

model_weight = Table(
    "model_weight",
    metadata,
    column("model_id", Integer, "Model of the words."),
    column("version", Integer, "Counts what was learnt for that model, from 1."),
    column("algorithm", String, "Algorithm whose weights they are."),
    column("kind", String, "feature: another model, factor: a part of trees."),
    column("name", String, "Name of that model with its version, or of the factor."),
    column("weight", Double, "What it weighs beside the 1 of the words."),
    column("run_id", Integer, "Run that learnt it."),
    comment="Weights that `sentgen tune` learnt.",
)

model_ngram = Table(
    "model_ngram",
    metadata,
    column("model_id", Integer, "Model."),
    column("anchor", Integer, "The word of the n-gram with the greatest id: as a rule its rarest."),
    column("n", SmallInteger, "Order of the n-gram."),
    *[
        column(f"w{i}", Integer, f"Word {i} of the n-gram (in word); null beyond its order.", nullable=True)
        for i in range(1, 6)
    ],
    column("logp", Double, "Natural logarithm of the probability of the last word after the others."),
    column(
        "backoff",
        Double,
        "Natural logarithm of the back-off weight of the n-gram as a context; 0 if it has none.",
    ),
    comment="Back-off language model, sorted by model and anchor so that the n-grams of a bag lie together.",
)

surprisal = Table(
    "surprisal",
    metadata,
    column("model_id", Integer, "Model."),
    column("corpus_id", Integer, "Corpus of the token."),
    column("sentence_id", BigInteger, "Sentence of the token."),
    column("position", Integer, "Position of the token."),
    column("bits", Double, "Surprisal: -log2 of its probability after the tokens before it."),
    column("unknown", Boolean, "Whether the model does not know the word."),
    comment="What models say of stored tokens, of whole sentences (models apply).",
)


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
