"""Tables of document-abstract pairs, of alignment models trained on them, and of their alignments."""

from __future__ import annotations

from sqlalchemy import ARRAY, BigInteger, Boolean, DateTime, Double, Integer, SmallInteger, String, Table

from sentgen.schema.base import column, key, metadata

pair = Table(
    "pair",
    metadata,
    key("Number of the pair."),
    column("corpus_id", Integer, "Corpus of the pair, of kind pairs."),
    column("name", String, "Name of the pair, once in a corpus."),
    column("document_id", Integer, "Its document (in document)."),
    column("abstract_id", Integer, "Its abstract (in document)."),
    column("document_words", Integer, "Number of words of the document."),
    column("abstract_words", Integer, "Number of words of the abstract."),
    column("sha256", String, "SHA-256 of its name, its texts and how they were tokenized."),
    comment="A document and its abstract.",
)

alignment_model = Table(
    "alignment_model",
    metadata,
    key("Number of the model."),
    column("name", String, "Name given with --model.", unique=True),
    column("corpus_id", Integer, "Corpus of the pairs that it is trained on; 0 for gold links."),
    column("corpus_name", String, "Name of that corpus when training began, or of the file of gold links."),
    column("pairs", Integer, "Number of pairs that it is trained on."),
    # Iterations over other pairs do not continue the same EM: the likelihood could fall.
    column("pairs_hash", String, "Hash of the pairs, which must be the same when training goes on."),
    column("settings", String, "Settings of the phrase-based HMM as JSON."),
    column("iterations", SmallInteger, "Iterations of EM that were asked for, for each direction."),
    column("version", String, "Version of sentgen."),
    column("created_at", DateTime, "When training began (UTC)."),
    comment="A phrase-based HMM that aligns abstracts with documents.",
)

alignment_iteration = Table(
    "alignment_iteration",
    metadata,
    column("model_id", Integer, "Model."),
    column("direction", String, "forward: abstracts from documents; reverse: documents from abstracts."),
    column("iteration", SmallInteger, "Number of the iteration, from 1."),
    column(
        "logp",
        Double,
        "Natural logarithm of the likelihood of all pairs before the M step; of gold links, tuned.",
    ),
    column(
        "log_posterior", Double, "The same plus that of the priors, but for a constant; in EM it never falls."
    ),
    column("p_null", Double, "Probability that a word comes from null, after the M step."),
    column("weight_table", Double, "Mixture weight of the rewrite table, after the M step."),
    column("weight_stem", Double, "Mixture weight of the stem model, after the M step."),
    column("weight_identity", Double, "Mixture weight of identity, after the M step."),
    column("cells", BigInteger, "Cells of the rewrite tables."),
    column("seconds", Double, "How long the iteration took, storing it included."),
    column("finished_at", DateTime, "When it was stored (UTC)."),
    comment="One iteration of EM.",
)

alignment_jump = Table(
    "alignment_jump",
    metadata,
    column("model_id", Integer, "Model."),
    column("direction", String, "forward or reverse."),
    column("iteration", SmallInteger, "Iteration after which it holds."),
    column("first", Integer, "Smallest distance of the cell: from the end of a phrase to the next one."),
    column("last", Integer, "Largest distance of the cell."),
    column("prob", Double, "Probability of the whole cell."),
    comment="How far the next document phrase lies from the end of the one before.",
)

alignment_word = Table(
    "alignment_word",
    metadata,
    column("model_id", Integer, "Model."),
    column("id", Integer, "Number of the word within the model."),
    column("form", String, "The word, in lower case unless the model heeds case."),
    column("documents", Boolean, "Whether it occurs in a document."),
    column("abstracts", Boolean, "Whether it occurs in an abstract."),
    column("null_forward", Double, "P(word | null), abstracts from documents.", nullable=True),
    column("null_reverse", Double, "P(word | null), documents from abstracts.", nullable=True),
    comment="The words of a model and what null emits.",
)

alignment_phrase = Table(
    "alignment_phrase",
    metadata,
    column("model_id", Integer, "Model."),
    column("layer", String, "words, or stems for the rewrite table of stems."),
    column("key", BigInteger, "Key of the phrase in the rewrite tables."),
    column("form", String, "Its words or stems, joined by spaces."),
    comment="What the keys of the rewrite tables mean.",
)

alignment_rewrite = Table(
    "alignment_rewrite",
    metadata,
    column("model_id", Integer, "Model."),
    column("reverse", Boolean, "Whether it is documents that are made from abstracts."),
    column("stems", Boolean, "Whether the phrases are those of stems."),
    column("iteration", SmallInteger, "Iteration after which it holds; only the last one is kept."),
    column("source", BigInteger, "Key of the phrase that is rewritten."),
    column("target", BigInteger, "Key of what it becomes."),
    column("kind", SmallInteger, "Prior: 0 other phrases, 1 words, 2 equal stems, 3 identical."),
    column("prob", Double, "P(target | source)."),
    comment="The rewrite tables, sorted by source and target.",
)

alignment = Table(
    "alignment",
    metadata,
    column("model_id", Integer, "Model."),
    column("corpus_id", Integer, "Corpus of the pair."),
    column("pair_id", Integer, "Pair."),
    column(
        "decode",
        String,
        "viterbi or posterior, with :vectors=NAME behind it if vectors said which words are near.",
    ),
    column("threshold", Double, "Smallest posterior of a link; null for viterbi.", nullable=True),
    column("iteration", SmallInteger, "Iterations that the model had."),
    column("logp", Double, "Natural logarithm of P(abstract | document).", nullable=True),
    column("coverage", Double, "Share of the abstract's words in fragments copied from the document."),
    column("density", Double, "Mean length of the copied fragment of a word of the abstract."),
    column("null_share", Double, "Share of the abstract's words that are new: come from nothing."),
    column("changed_share", Double, "Share of the abstract's words that the document contradicts."),
    column("longest_run", Integer, "Words of the longest copied fragment."),
    comment="A pair as a model aligned it.",
)

alignment_link = Table(
    "alignment_link",
    metadata,
    column("model_id", Integer, "Model."),
    column("corpus_id", Integer, "Corpus of the pair."),
    column("pair_id", Integer, "Pair."),
    column("document_first", Integer, "Offset of the first word of the document phrase, from 0."),
    # A half-open range from 0, as slices have; positions of tokens elsewhere in the store count from 1.
    column("document_end", Integer, "Offset after its last word."),
    column("abstract_first", Integer, "Offset of the first word of the abstract phrase, from 0."),
    column("abstract_end", Integer, "Offset after its last word."),
    column("posterior", Double, "Probability of the link given both texts.", nullable=True),
    comment="A phrase of an abstract and the document phrase that it comes from.",
)

alignment_state = Table(
    "alignment_state",
    metadata,
    column("model_id", Integer, "Model."),
    column("corpus_id", Integer, "Corpus of the pair."),
    column("pair_id", Integer, "Pair."),
    column("position", Integer, "Offset of the word in the abstract, from 0."),
    column("state", String, "same, variant, related, changed or new."),
    # Offsets and sentences as lists: few words have more than one, and they are read with the word.
    column(
        "source", ARRAY(Integer), "Offsets of the document words it comes from or is contradicted by, from 0."
    ),
    column("posterior", Double, "Probability of its best link given both texts.", nullable=True),
    column(
        "p_null", Double, "Probability that the word comes from null: nothing supports it.", nullable=True
    ),
    column("why", String, "What tells its state, in a few words; may be empty."),
    column("elsewhere", ARRAY(Integer), "Of a new word, the sentences of the document that have it, from 1."),
    comment="What became of each word of an abstract.",
)

alignment_weight = Table(
    "alignment_weight",
    metadata,
    column("model_id", Integer, "Model."),
    column("direction", String, "forward or reverse."),
    column("feature", String, "Feature of a link, a null word, a copied run or a jump."),
    column("value", String, "What it is."),
    column("weight", Double, "What is added to the logarithm of the score; values that are not here have 0."),
    comment="What a model learnt from gold links (sentgen align tune).",
)

alignment_link_count = Table(
    "alignment_link_count",
    metadata,
    column("model_id", Integer, "Model."),
    column("stem", String, "Stem of a word of either text."),
    column("other", String, "Stem of a word of the other text."),
    column("linked", BigInteger, "Sure gold links between the two."),
    column("together", BigInteger, "Places where they stood in both texts of a pair."),
    comment="Which stems the gold links of a tuned model join.",
)

#: Tables whose rows belong to a corpus of pairs and are removed with it.
OF_CORPUS = (alignment_state, alignment_link, alignment, pair)
#: Tables whose rows belong to a model and are removed with it.
# In the order of deletion, owners last; `sentgen.schema.checks` uses the reverse order.
OF_MODEL = (
    alignment_state,
    alignment_link,
    alignment,
    alignment_rewrite,
    alignment_phrase,
    alignment_word,
    alignment_jump,
    alignment_weight,
    alignment_link_count,
    alignment_iteration,
)
