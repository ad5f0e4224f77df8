"""Tables of counts. Every row belongs to a segment: the counts of one ingested batch of one corpus."""

from __future__ import annotations

from sqlalchemy import BigInteger, DateTime, Integer, SmallInteger, String, Table

from sentgen.schema.base import OneOf, column, key, metadata

# Each order has a table, and `model_ngram` has a column for each word: order 6 would need a migration.
MAX_ORDER = 5

segment = Table(
    "segment",
    metadata,
    key("Number of the segment."),
    column("corpus_id", Integer, "Corpus that was counted."),
    column("sentences", BigInteger, "Sentences counted in it."),
    column("tokens", BigInteger, "Tokens counted in it."),
    column("created_at", DateTime, "When it was written (UTC)."),
    comment=(
        "The counts of one batch. A corpus has one or more; its counts are their sum. "
        "Small ones are merged on the way, all of them by `sentgen db compact`."
    ),
)


def _ngram_table(order: int) -> Table:
    words = [column(f"w{i}", Integer, f"Word {i} of the n-gram (in word).") for i in range(1, order + 1)]
    return Table(
        f"ngram_{order}",
        metadata,
        column("segment_id", Integer, "Segment that was counted."),
        *words,
        column("count", BigInteger, "How often the n-gram occurs in the segment."),
        comment=f"N-grams of order {order}, sorted; sentences are wrapped in one <s> and one </s>.",
    )


#: Order of the n-gram to its table.
ngram = {order: _ngram_table(order) for order in range(1, MAX_ORDER + 1)}

_LAYER = (
    "word: all tokens, tree as annotated. "
    "unit: base noun phrases as one unit, function heads if the corpus says so."
)
_DIRECTION = "Side of the head on which the modifier stands: left or right."

dependency_event = Table(
    "dependency_event",
    metadata,
    column("segment_id", Integer, "Segment that was counted."),
    column("layer", String, _LAYER),
    column("anchor", Integer, "The greater id of its words, as a rule the rarer one's; 0 without words."),
    column(
        "level",
        String,
        "Back-off level: word-word, tag-word, word-tag or tag-tag (head first); a word comes with its tag.",
    ),
    column("head_word_id", Integer, "Head word (in word); null where backed off to its tag.", nullable=True),
    column("head_tag_id", Integer, "Tag of the head (in tag)."),
    column(
        "modifier_word_id",
        Integer,
        "Modifier word (in word); null where backed off to its tag.",
        nullable=True,
    ),
    column("modifier_tag_id", Integer, "Tag of the modifier (in tag)."),
    column("direction", String, _DIRECTION),
    column("distance", SmallInteger, "Distance in words or units: 1, 2, or 3 for three and more."),
    column("count", BigInteger, "How often the event occurs in the segment."),
    comment=(
        "Head-modifier events at the four back-off levels (Wan et al. 2007, section 3; Collins 1996), "
        "sorted by anchor, so that all of a word are read with few others."
    ),
)

sibling_count = Table(
    "sibling_count",
    metadata,
    column("segment_id", Integer, "Segment that was counted."),
    column("layer", String, _LAYER),
    column("head_tag_id", Integer, "Tag of the head (in tag)."),
    column("before_tag_id", Integer, "Tag of a modifier (in tag)."),
    column("modifier_tag_id", Integer, "Tag of the next modifier on the same side, farther from the head."),
    column("direction", String, _DIRECTION),
    column("count", BigInteger, "How often that is so in the segment."),
    comment=(
        "Which modifier a head takes next after which, from it outwards (Eisner 1996, model C). How often "
        "one is the first or the last on its side is what is left of the events of its tag."
    ),
)

posting = Table(
    "posting",
    metadata,
    column("segment_id", Integer, "Segment that was counted."),
    column("layer", String, _LAYER),
    column("word_id", Integer, "Word (in word)."),
    column("tag_id", Integer, "Its tag (in tag)."),
    column("sentence_id", BigInteger, "Sentence in which it occurs."),
    column("count", BigInteger, "How often it occurs there."),
    comment=(
        "Which tagged words occur in which sentence, sorted by word: co-occurrence counts are derived "
        "from it, because a stored table of pairs grows with the square of the sentence length."
    ),
)

#: Pairs are stored for words with at least so many tokens in a segment; others have few rows in `posting`.
FREQUENT = 512

cooccurrence = Table(
    "cooccurrence",
    metadata,
    column("segment_id", Integer, "Segment that was counted."),
    column("layer", String, _LAYER),
    column("level", String, "word-word, word-tag or tag-tag; a word comes with its tag."),
    column(
        "word_id",
        Integer,
        "The one word (in word), that with the greater id; null at tag-tag.",
        nullable=True,
    ),
    column("tag_id", Integer, "Its tag (in tag)."),
    column(
        "other_word_id", Integer, "The other word (in word); null where it is any of its tag.", nullable=True
    ),
    column("other_tag_id", Integer, "Its tag (in tag)."),
    column(
        "count", BigInteger, "Pairs of different tokens in one sentence, over all sentences of the segment."
    ),
    comment=(
        f"How often two tags, or words with {FREQUENT} tokens and more in the segment, stand in one "
        "sentence; each pair once. Pairs with a rarer word are counted in `posting` when they are asked for."
    ),
)

#: Attribute in `occurrence` to the column of `token` with its words.
ATTRIBUTES = {"word": "word_id", "lemma": "lemma_id"}

occurrence = Table(
    "occurrence",
    metadata,
    column("segment_id", Integer, "Segment that was counted."),
    column("attribute", OneOf(*sorted(ATTRIBUTES)), "word: the form of the token. lemma: its lemma."),
    column("word_id", Integer, "The form or lemma (in word)."),
    column("token", BigInteger, "Number of the token (sentence.first_token + position - 1)."),
    comment=(
        "Where each form and each lemma occurs, sorted by it, so that the tokens of a word are found without "
        "a look at the others. Every token with a sentence has a row for its form, and one for its lemma if "
        "it has one."
    ),
)

argument_count = Table(
    "argument_count",
    metadata,
    column("segment_id", Integer, "Segment that was counted."),
    column("layer", String, _LAYER),
    column("level", String, "word: the word with its tag. tag: all words of the tag."),
    column("word_id", Integer, "Head word (in word); null at level tag.", nullable=True),
    column("tag_id", Integer, "Its tag (in tag)."),
    column("direction", String, _DIRECTION),
    column(
        "arguments", SmallInteger, "Number of modifiers on that side, 0 to 7; 7 stands for seven and more."
    ),
    column("count", BigInteger, "How often the head occurs with that number of modifiers."),
    comment="How many modifiers a head takes on each side (Wan et al. 2007, section 3.2).",
)
