"""Tables of corpora: sources, documents, sentences and tokens, and the strings of ids."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, DateTime, Integer, SmallInteger, String, Table

from sentgen.schema.base import column, key, metadata

#: Ids of `word` that exist in every store, in this order: 0, 1, 2, 3.
UNK, BOS, EOS, ROOT = range(4)
RESERVED_WORDS = ("<unk>", "<s>", "</s>", "<root>")
#: Ids of `tag` that exist in every store: the tag of the artificial root, and that of tokens without a tag.
ROOT_TAG, NO_TAG = range(2)
RESERVED_TAGS = ("<root>", "_")

word = Table(
    "word",
    metadata,
    column("id", Integer, "Number that stands for the string everywhere else; never changes its meaning."),
    column("form", String, "The string: a word form or a lemma."),
    comment="Every word form and lemma of the store.",
)

tag = Table(
    "tag",
    metadata,
    key("Number that stands for the label everywhere else; never changes its meaning."),
    column("name", String, "The label.", unique=True),
    comment="Every label of the store: parts of speech, dependency relations and feature bundles.",
)

corpus = Table(
    "corpus",
    metadata,
    key("Number of the corpus."),
    column("name", String, "Name given with --corpus.", unique=True),
    column(
        "kind",
        String,
        "corpus; cluster: its documents are groups of related sentences; pairs: documents and abstracts.",
    ),
    column("licence", String, "Licence as given with --licence.", nullable=True),
    column("lowercase", Boolean, "Whether forms and lemmas were lower-cased on the way in."),
    column("max_order", SmallInteger, "Highest order of n-grams that is counted, 1 to 5."),
    column(
        "tags",
        String,
        "Which tags the dependency counts use: xpos or upos (the other one where it is missing).",
    ),
    column("function_heads", Boolean, "Whether case, mark, aux and cop head their phrase in the unit layer."),
    column("created_at", DateTime, "When the corpus was created (UTC)."),
    comment="A named collection of sources that is counted, removed and put into models as one.",
)

subcorpus = Table(
    "subcorpus",
    metadata,
    column("name", String, "Name given to it; no corpus has the same.", unique=True),
    column("corpora", String, "Names of the corpora that it is of, one a line; empty for all of the store."),
    column("expression", String, "What the metadata of its sentences meet, as --where has it."),
    column("defined_at", DateTime, "When it was defined (UTC)."),
    comment="A named choice of sentences by their metadata; it is made anew whenever it is asked for.",
)

source = Table(
    "source",
    metadata,
    key("Number of the source."),
    column("corpus_id", Integer, "Corpus that the source belongs to."),
    column(
        "path",
        String,
        "Absolute path of the file, archive members as archive.zip!member; - for standard input.",
    ),
    column("sha256", String, "SHA-256 of the content after decompression."),
    column("format", String, "Reader that read it."),
    column("reader_version", String, "Version of that reader, and of the parser if it might need one."),
    column("sentences", BigInteger, "Sentences stored from it."),
    column("tokens", BigInteger, "Tokens stored from it."),
    column("rejected", BigInteger, "Sentences of it that a check refused."),
    column("cyclic", BigInteger, "Sentences whose units form no tree; left out of the unit layer."),
    column("empty_nodes", BigInteger, "Empty nodes of enhanced graphs, in empty_node."),
    column("ingested_at", DateTime, "When it was stored (UTC)."),
    comment="One file, archive member or stream that was ingested, whole or not at all.",
)

document = Table(
    "document",
    metadata,
    key("Number of the document."),
    column("corpus_id", Integer, "Corpus that the document belongs to."),
    column("source_id", Integer, "Source that it was read from."),
    column("name", String, "Name as the source gives it (newdoc id), else the path of the source as given."),
    column("first_sentence", BigInteger, "Id of its first sentence."),
    column("sentences", BigInteger, "Number of its sentences, which have consecutive ids."),
    comment="One text: what a source marks as a document, or the whole source.",
)

sentence = Table(
    "sentence",
    metadata,
    column("id", BigInteger, "Number of the sentence; consecutive within a document."),
    column("corpus_id", Integer, "Corpus of the sentence."),
    column("document_id", Integer, "Document of the sentence."),
    column("sent_id", String, "Name of the sentence in its source.", nullable=True),
    column("length", Integer, "Number of tokens."),
    column(
        "first_token",
        BigInteger,
        "Number of its first token; the others follow (first_token + position - 1).",
    ),
    column("line", BigInteger, "Line of the source on which the sentence starts."),
    column("text", String, "Raw text as the source gives it.", nullable=True),
    column("metadata", String, "Other comment lines of the sentence, joined by line feeds.", nullable=True),
    comment="One sentence.",
)

token = Table(
    "token",
    metadata,
    column("corpus_id", Integer, "Corpus of the token."),
    column("sentence_id", BigInteger, "Sentence of the token."),
    column("position", Integer, "Place in the sentence, from 1."),
    column("word_id", Integer, "Word form."),
    column("lemma_id", Integer, "Lemma (in word).", nullable=True),
    column("upos_id", Integer, "Universal part of speech (in tag).", nullable=True),
    column("xpos_id", Integer, "Language-specific part of speech (in tag).", nullable=True),
    column("feats_id", Integer, "Morphological features (in tag).", nullable=True),
    column("head", Integer, "Position of the head, 0 for the root.", nullable=True),
    column("deprel_id", Integer, "Dependency relation to the head (in tag).", nullable=True),
    column(
        "np",
        Integer,
        "Number of the base noun phrase in the sentence, 0 outside; null if unknown.",
        nullable=True,
    ),
    column(
        "unit_head",
        Integer,
        "On the last word of a unit: position of the last word of the governing unit, or 0; else null.",
        nullable=True,
    ),
    column(
        "space_after", Boolean, "Whether a space follows in the raw text; null if unknown.", nullable=True
    ),
    comment="One token. A unit is a base noun phrase, with its last word for it, or a word outside of one.",
)

multiword = Table(
    "multiword",
    metadata,
    column("corpus_id", Integer, "Corpus of the sentence."),
    column("sentence_id", BigInteger, "Sentence in which it stands."),
    column("first", Integer, "Position of its first token."),
    column("last", Integer, "Position of its last token."),
    column("form", String, "Surface form."),
    comment="A surface word that covers several tokens (CoNLL-U range).",
)

rejection = Table(
    "rejection",
    metadata,
    column("corpus_id", Integer, "Corpus for which the source was read."),
    column("path", String, "Source of the sentence."),
    column("line", BigInteger, "Line of the source on which the problem stands."),
    column("sent_id", String, "Name of the sentence in its source."),
    column("check_name", String, "Check that refused it."),
    column("message", String, "What is wrong."),
    column("rejected_at", DateTime, "When it was refused (UTC)."),
    comment="A sentence that was not stored, and why.",
)
