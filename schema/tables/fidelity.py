"""Tables of annotation beyond tokens and trees, so that it can be exported again and searched.

They have rows only for data that `token`, `sentence` and `multiword` do not have: plain text needs none.
`sentgen.counts.treebank_rows` writes them, and `sentgen.counts.exports` reads them.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, DateTime, Integer, String, Table

from sentgen.schema.base import column, metadata
from sentgen.schema.tables.models import surprisal

document_meta = Table(
    "document_meta",
    metadata,
    column("corpus_id", Integer, "Corpus of the document."),
    column("document_id", Integer, "Document."),
    column("key", String, "What is said, such as genre; of `# meta::genre = news`, what follows meta::."),
    column("value", String, "What it is."),
    comment="Metadata of documents: of their source, or of a table about them (table_meta).",
)

table_meta = Table(
    "table_meta",
    metadata,
    column("corpus_id", Integer, "Corpus that the table is about."),
    column("path", String, "Absolute path of the table."),
    column("place", Integer, "Its number among those of the corpus; of two, the higher one is believed."),
    column("name", String, "Name that the table has for a document."),
    column("key", String, "Column of the table."),
    column("value", String, "What it says of the document."),
    comment="What tables say of documents, those that are not there yet included (corpora metadata).",
)

sentence_meta = Table(
    "sentence_meta",
    metadata,
    column("corpus_id", Integer, "Corpus of the sentence."),
    column("sentence_id", BigInteger, "Sentence."),
    column("key", String, "What stands before the equals sign of a comment, such as speaker."),
    column("value", String, "What stands behind it."),
    comment="Metadata of sentences: comments such as `# speaker = Ann`, but for sent_id, text and newdoc.",
)

token_misc = Table(
    "token_misc",
    metadata,
    column("corpus_id", Integer, "Corpus of the token."),
    column("sentence_id", BigInteger, "Sentence of the token."),
    column("position", Integer, "Position of the token."),
    column("misc", String, "The column MISC as the source has it."),
    comment="What the column MISC of CoNLL-U says of a token, where it is more than whether a space follows.",
)

enhanced_edge = Table(
    "enhanced_edge",
    metadata,
    column("corpus_id", Integer, "Corpus of the dependent."),
    column("sentence_id", BigInteger, "Sentence of the dependent."),
    column("position", Integer, "Position of the dependent; of an empty node, that of the token before it."),
    column("minor", Integer, "0 for a token, else the number of the empty node at that position."),
    column("place", Integer, "Place of the edge in the column DEPS of its dependent, from 1."),
    column("head", Integer, "Position of the head, 0 for the root; as position for an empty node."),
    column("head_minor", Integer, "0 for a token or the root, else the number of the empty node."),
    column("deprel_id", Integer, "Enhanced dependency relation to the head (in tag)."),
    comment="One edge of the enhanced dependency graphs (DEPS of CoNLL-U).",
)

enhanced_cell = Table(
    "enhanced_cell",
    metadata,
    column("corpus_id", Integer, "Corpus of the dependent."),
    column("sentence_id", BigInteger, "Sentence of the dependent."),
    column("position", Integer, "Position of the dependent; of an empty node, that of the token before it."),
    column("minor", Integer, "0 for a token, else the number of the empty node at that position."),
    column("deps", String, "The column DEPS as the source has it."),
    comment="Columns DEPS of CoNLL-U that are no lists of head:relation, whose edges are not known.",
)

empty_node = Table(
    "empty_node",
    metadata,
    column("corpus_id", Integer, "Corpus of the sentence."),
    column("sentence_id", BigInteger, "Sentence in which it stands."),
    column("position", Integer, "Position of the token that it follows, 0 before the first one."),
    column("minor", Integer, "Its number among those that follow this token, from 1."),
    column("form", String, "Word form.", nullable=True),
    column("lemma", String, "Lemma.", nullable=True),
    column("upos", String, "Universal part of speech.", nullable=True),
    column("xpos", String, "Language-specific part of speech.", nullable=True),
    column("feats", String, "Morphological features.", nullable=True),
    column("head", String, "The column HEAD, which should be empty.", nullable=True),
    column("deprel", String, "The column DEPREL, which should be empty.", nullable=True),
    column("misc", String, "The column MISC.", nullable=True),
    column("behind_range", Boolean, "Whether it stands behind the line of a range that begins after it."),
    comment="A node of an enhanced graph that is no word of the sentence; its edges are in enhanced_edge.",
)

multiword_row = Table(
    "multiword_row",
    metadata,
    column("corpus_id", Integer, "Corpus of the sentence."),
    column("sentence_id", BigInteger, "Sentence in which it stands."),
    column("first", Integer, "Position of its first token (as in multiword)."),
    column("lemma", String, "The column LEMMA.", nullable=True),
    column("upos", String, "The column UPOS.", nullable=True),
    column("xpos", String, "The column XPOS.", nullable=True),
    column("feats", String, "The column FEATS.", nullable=True),
    column("head", String, "The column HEAD.", nullable=True),
    column("deprel", String, "The column DEPREL.", nullable=True),
    column("deps", String, "The column DEPS.", nullable=True),
    column("misc", String, "The column MISC.", nullable=True),
    comment="What the line of a surface word says beyond its form and whether a space follows.",
)

sentence_layout = Table(
    "sentence_layout",
    metadata,
    column("corpus_id", Integer, "Corpus of the sentence."),
    column("sentence_id", BigInteger, "Sentence."),
    column(
        "comments",
        String,
        "A letter a comment: document, sent_id, text, metadata (n: without a blank), verbatim.",
    ),
    column(
        "verbatim",
        String,
        "Comments whose spelling the columns do not give back, joined by line feeds.",
        nullable=True,
    ),
    comment="The order of the comments of a sentence, where it is not that in which they are written.",
)

region = Table(
    "region",
    metadata,
    column("corpus_id", Integer, "Corpus of the region."),
    column("sentence_id", BigInteger, "Sentence of its first token."),
    column("place", Integer, "Its number among the regions that begin in that sentence, from 1."),
    column("kind", String, "What it is, such as p, speaker or div: the tag that the source has."),
    column("position", Integer, "Position of its first token."),
    column("last_sentence_id", BigInteger, "Sentence of its last token, in the same document."),
    column("last_position", Integer, "Position of its last token."),
    comment="A stretch of tokens that a source marks; regions may lie within each other, and overlap.",
)

region_meta = Table(
    "region_meta",
    metadata,
    column("corpus_id", Integer, "Corpus of the region."),
    column("sentence_id", BigInteger, "Sentence of its first token."),
    column("place", Integer, "Its number among the regions that begin in that sentence."),
    column("key", String, "Attribute of its tag, such as party."),
    column("value", String, "What it is."),
    comment="Attributes of regions, in the order of their source.",
)

source_layout = Table(
    "source_layout",
    metadata,
    column("corpus_id", Integer, "Corpus of the source."),
    column("source_id", Integer, "Source."),
    column("byte_order_mark", Boolean, "Whether it begins with a byte order mark."),
    column("carriage_returns", Boolean, "Whether its lines end with carriage return and line feed."),
    column("line_feeds", Integer, "Line feeds after its last line that is not blank."),
    comment="How a source is written, where it is not with line feeds and one blank line at its end.",
)

source_file = Table(
    "source_file",
    metadata,
    column("corpus_id", Integer, "Corpus of the source."),
    column("source_id", Integer, "Source."),
    column("name", String, "Name of the source as the command had it."),
    column(
        "folder", String, "Absolute path of the folder in which it was found; empty if it was named itself."
    ),
    column(
        "size", BigInteger, "Bytes of the file, of an archive as a whole; null for a stream.", nullable=True
    ),
    column("modified", BigInteger, "When the file was changed: nanoseconds since 1970.", nullable=True),
    column("settings", String, "What the command said of reading it, as a JSON object."),
    column("checked_at", DateTime, "When its content was last compared with that of the source (UTC)."),
    comment="The file of a source, and how it was read (corpora sync); a snapshot has none.",
)

#: Tables whose rows belong to a sentence, by `sentence_id`, to the columns that order the rows of a sentence.
OF_SENTENCE = {
    sentence_meta: (),
    token_misc: ("position",),
    enhanced_edge: ("position", "minor", "place"),
    enhanced_cell: ("position", "minor"),
    empty_node: ("position", "minor"),
    multiword_row: ("first",),
    sentence_layout: (),
    region: ("place",),
    region_meta: ("place",),
    surprisal: ("model_id", "position"),
}
#: These tables and those of documents and sources; each has a column for the corpus of its rows.
OF_CORPUS = (*OF_SENTENCE, document_meta, table_meta, source_layout, source_file)

#: Checks of the rows of a sentence: name to SQL that yields a row for each problem.
IN_SENTENCE = {
    f"{table.name} in the sentence": f"""
        select t.sentence_id, t.position
        from {table.name} t
        join sentence s on s.id = t.sentence_id
        where t.position not between 0 and s.length
            or {condition}
    """
    for table, condition in (
        (token_misc, "t.position = 0"),
        (enhanced_edge, "t.head not between 0 and s.length or t.position + t.minor = 0"),
        (enhanced_cell, "t.position + t.minor = 0"),
        (empty_node, "t.minor < 1"),
    )
} | {
    "rows of multiword ranges": """
        select r.sentence_id, r.first
        from multiword_row r
        anti join multiword m on m.sentence_id = r.sentence_id and m.first = r.first
    """,
    "regions in their document": """
        select r.sentence_id, r.place
        from region r
        join sentence s on s.id = r.sentence_id
        left join sentence l on l.id = r.last_sentence_id and l.document_id = s.document_id
        where l.id is null
            or r.position not between 1 and s.length
            or r.last_position not between 1 and l.length
            or (r.sentence_id, r.position) > (r.last_sentence_id, r.last_position)
    """,
    "attributes of regions": """
        select m.sentence_id, m.place
        from region_meta m
        anti join region r on r.sentence_id = m.sentence_id and r.place = m.place
    """,
}
