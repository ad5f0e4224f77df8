"""Options of the methods: type, default and what each is; written by docs/generate_reference.py.

The declarations of the commands are the source: change those, and not this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypedDict


class IngestOptions(TypedDict, total=False):
    """How a corpus is read and counted; the same for all of its sources."""

    format: Annotated[str | None, None, "Format; detected if not given."]
    language: Annotated[str, "en", "Language of raw text, for its sentences and tokens: a code of ISO 639, such as fr."]
    encoding: Annotated[str, "utf-8", "Encoding of text, where it is not UTF-8, such as latin-1."]
    columns: Annotated[str | None, None, "Columns of a vertical file, such as word,pos,lemma; others are attributes."]
    sentences: Annotated[str | None, None, "Tag whose regions are the sentences of a vertical file without <s>."]
    text: Annotated[str | None, None, "Column of a table, or key of JSON Lines, with the text or lists of words."]
    id: Annotated[str | None, None, "Column of a table, or key of JSON Lines, with the names of documents."]
    meta: Annotated[str | Sequence[str], (), "More metadata of TEI: what an expression finds in its header; can be repeated."]
    notes: Annotated[bool, False, "Take notes of TEI for text, behind their paragraphs."]
    licence: Annotated[str | None, None, "Licence to record."]
    lowercase: Annotated[bool, False, "Lower-case forms and lemmas."]
    order: Annotated[int, 5, "Highest order of n-grams to count, 1 to 5."]
    tags: Annotated[str, "xpos", "Tags that dependency counts use first."]
    function_heads: Annotated[bool, True, "Let case, mark, aux and cop head their phrase in the unit layer (UD only)."]
    on_error: Annotated[str, "raise", "A bad sentence stops everything, or refuses its file after a full check, or is left out."]
    replace: Annotated[bool, False, "What was read from the same path before goes when the new content is in."]
    parser: Annotated[str | None, None, "Parse what has no trees: NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE."]
    table_name: Annotated[str | None, None, "Of a table in memory: the name by which the corpus knows it; that of the corpus if none is given."]


class SyncOptions(TypedDict, total=False):
    """A corpus, and which of its files are looked at; `sentgen.counts.sync` does it."""

    parser: Annotated[str | None, None, "Parse what has no trees: NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE."]


class DocumentTableOptions(TypedDict, total=False):
    """A table about the documents of a corpus."""

    key: Annotated[str, "", "Column with the names of documents, or of their files, with or without folder and extension; or with the id of regions."]
    encoding: Annotated[str, "utf-8", "Encoding of the table, where it is not UTF-8, such as latin-1."]
    table_name: Annotated[str | None, None, "Of a table in memory: the name by which the corpus knows it; that of the corpus if none is given."]


class TrainParserOptions(TypedDict, total=False):
    """A parser to train."""

    held_out: Annotated[str | Sequence[str], (), "Treebank to score with, instead of each tenth sentence."]
    only: Annotated[Literal["tags"] | None, None, "Learn tags and lemmas, and no trees: half of the time."]


class NgramsOptions(TypedDict, total=False):
    """The n-grams that match a pattern."""

    by: Annotated[Literal["word", "lemma", "upos", "xpos", "deprel"], "word", "What the n-grams are of."]
    words: Annotated[bool, False, "Only of words: none with a mark, without a letter or a digit, or an end of a sentence."]
    min_count: Annotated[int, 1, "Omit lower counts."]
    min_documents: Annotated[int, 0, "Omit what fewer documents have, and show how many have it."]
    sort: Annotated[str, "", "Sort all rows by this column, by `-dp` from its end, before some of them are shown."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class DependenciesOptions(TypedDict, total=False):
    """The dependencies between a head and its modifiers."""

    reverse: Annotated[bool, False, "Ask for the heads of a word instead of its modifiers."]
    tag: Annotated[str, "*", "Tag of the first word, such as VBD."]
    layer: Annotated[Literal["word", "unit"], "word", "Tree of words, or of units (base noun phrases as one)."]
    level: Annotated[Literal["word-word", "tag-word", "word-tag", "tag-tag"], "word-word", "Word or tag, of head and modifier."]
    explain: Annotated[bool, False, "Of two words: how probable it is that they are head and modifier, level by level."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class ArgumentsOptions(TypedDict, total=False):
    """How many modifiers a word takes on each side."""

    tag: Annotated[str, "*", "Its tag, such as VBD."]
    layer: Annotated[Literal["word", "unit"], "word", "Tree of words, or of units (base noun phrases as one)."]
    explain: Annotated[bool, False, "Of a word: how probable each number is, from the counts of the word and of its tag."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 0, "Rows; 0 for all."]


class KwicOptions(TypedDict, total=False):
    """A word or a sequence of words in context (concordance)."""

    cql: Annotated[str | None, None, 'A query in CQL instead, such as `[upos="ADJ"]+ "house"`.']
    count: Annotated[bool, False, "Only the number of hits."]
    places: Annotated[bool, False, "Instead of lines a row for each document, those with most hits first, with where in it hits are: `places` are thousandths of the document."]
    context: Annotated[int | str, 15, "Words on each side at most; or `1s`, the sentence of the hit, `2s`, with those before and after it, and so on; `1p`, `2p` for paragraphs."]
    sort: Annotated[str, "none", "Sort all hits, or those drawn at random, by keys: `1L`, `2R` (words beside the node), `node`, `document`, metadata such as `year`, `surprisal`, `left` or `right`, or `typical`: good examples first; `1L%c` ignores case, `-year` turns it."]
    explain: Annotated[bool, False, "With the order `typical`: the score of each line, and what it is made of, before the words."]
    show: Annotated[str | Sequence[str], (), "Metadata, attributes of regions or of the first token, before the words: `genre,Gloss`."]
    dedupe: Annotated[bool, False, "Lines that show the same, words and context, once."]
    sample: Annotated[int | None, None, "Only so many hits, drawn at random from all."]
    seed: Annotated[int | None, None, "Seed of the sample; 1 unless given."]
    random: Annotated[int | None, None, "Seed: a sample of as many lines as are shown, instead of the first ones."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]
    filter: Annotated[str | Sequence[str], (), "Only hits near which this matches, a pattern or CQL; several, one after the other."]
    within: Annotated[str | Sequence[str], (), "How near, of each filter or of all: `5` tokens on each side (if none is given), `3L`, `2R`, `L3-R2`; `not 3L` drops the hits instead."]
    strategy: Annotated[Literal["all", "longest", "shortest", "standard", "traditional"] | None, None, "Which matches of a CQL query to keep: all unless given, but those of CQP (standard) in its dialect."]
    dialect: Annotated[Literal["sentgen", "cqp", "blacklab"], "sentgen", "Read a query as CWB (cqp) or BlackLab does, which goes over the ends of sentences."]
    across: Annotated[bool, False, "Let matches, windows and contexts run over the ends of sentences, inside a document."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class NewLinesOptions(TypedDict, total=False):
    """A set of the lines that a query finds."""

    cql: Annotated[str | None, None, 'A query in CQL instead, such as `[upos="ADJ"]+ "house"`.']
    context: Annotated[int | str, 15, "Words on each side at most; or `1s`, the sentence of the hit, `2s`, with those before and after it, and so on; `1p`, `2p` for paragraphs."]
    sort: Annotated[str, "none", "Sort all hits, or those drawn at random, by keys: `1L`, `2R` (words beside the node), `node`, `document`, metadata such as `year`, `surprisal`, `left` or `right`, or `typical`: good examples first; `1L%c` ignores case, `-year` turns it."]
    dedupe: Annotated[bool, False, "Lines that show the same, words and context, once."]
    sample: Annotated[int | None, None, "Only so many hits, drawn at random from all."]
    seed: Annotated[int | None, None, "Seed of the sample; 1 unless given."]
    labels: Annotated[str | Sequence[str], (), "Labels that have a key on the page, in this order; others get the next ones."]
    filter: Annotated[str | Sequence[str], (), "Only hits near which this matches, a pattern or CQL; several, one after the other."]
    within: Annotated[str | Sequence[str], (), "How near, of each filter or of all: `5` tokens on each side (if none is given), `3L`, `2R`, `L3-R2`; `not 3L` drops the hits instead."]
    strategy: Annotated[Literal["all", "longest", "shortest", "standard", "traditional"] | None, None, "Which matches of a CQL query to keep: all unless given, but those of CQP (standard) in its dialect."]
    dialect: Annotated[Literal["sentgen", "cqp", "blacklab"], "sentgen", "Read a query as CWB (cqp) or BlackLab does, which goes over the ends of sentences."]
    across: Annotated[bool, False, "Let matches, windows and contexts run over the ends of sentences, inside a document."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]


class SetLinesOptions(TypedDict, total=False):
    """Lines of a set with their labels."""

    label: Annotated[str | None, None, "Only lines with this label; `?` for those without one."]
    labeler: Annotated[str, "", "Whose labels; `*` for everybody's."]
    show: Annotated[str | Sequence[str], (), "Metadata, attributes of regions or of the first token, before the words: `genre,Gloss`."]
    sort: Annotated[str, "line", "Order of the lines: line, label, left, node, right or document, or a key of the store such as `genre`; `-` turns it."]
    limit: Annotated[int, 20, "Rows; 0 for all."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]


class MatchOptions(TypedDict, total=False):
    """The places where a Grew request matches the trees."""

    key: Annotated[str | Sequence[str], (), "What to count hits by: `V.lemma`, `e.label`, `S#V#O`, `delta(V,S)`, `genre`, `corpus`, labels as `lines.SET`."]
    whether: Annotated[str | Sequence[str], (), "Conditions to count hits by, yes or no: `S [upos=PRON]`."]
    count: Annotated[bool, False, "Only the number of hits."]
    context: Annotated[int, 15, "Words on each side at most."]
    sort: Annotated[str, "none", "Sort all hits, or those drawn at random, by keys: `1L`, `2R` (words beside the node), `node`, `document`, metadata such as `year`, `surprisal`, `left` or `right`, or `typical`: good examples first; `1L%c` ignores case, `-year` turns it."]
    random: Annotated[int | None, None, "Seed: hits drawn at random, not the first ones."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class FrequenciesOptions(TypedDict, total=False):
    """A frequency list with dispersion and coverage."""

    pattern: Annotated[str, "*", "Only these, such as `un*`."]
    query: Annotated[str | None, None, "What a query in CQL, or a pattern as of kwic, matched, instead of all tokens."]
    parts: Annotated[str | None, None, "A kind of regions over which the dispersion is, such as `p`, instead of documents."]
    compare: Annotated[bool, False, "By metadata, compare each part with all others: log-likelihood, chi-square, BIC, and effect sizes with their 95 % intervals."]
    sort: Annotated[str, "", "Sort all rows by this column, by `-dp` from its end, before some of them are shown."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]
    mean: Annotated[str | None, None, "Also the mean of a number, such as `surprisal`, with its 95 % interval by documents."]
    filter: Annotated[str | Sequence[str], (), "Only hits near which this matches, a pattern or CQL; several, one after the other."]
    within: Annotated[str | Sequence[str], (), "How near, of each filter or of all: `5` tokens on each side (if none is given), `3L`, `2R`, `L3-R2`; `not 3L` drops the hits instead."]
    strategy: Annotated[Literal["all", "longest", "shortest", "standard", "traditional"] | None, None, "Which matches of a CQL query to keep: all unless given, but those of CQP (standard) in its dialect."]
    dialect: Annotated[Literal["sentgen", "cqp", "blacklab"], "sentgen", "Read a query as CWB (cqp) or BlackLab does, which goes over the ends of sentences."]
    across: Annotated[bool, False, "Let matches, windows and contexts run over the ends of sentences, inside a document."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class CollocationsOptions(TypedDict, total=False):
    """What occurs with a word more often than chance."""

    cql: Annotated[str | None, None, 'A query in CQL instead, such as `[upos="ADJ"]+ "house"`.']
    window: Annotated[str | None, None, "Words before and after: `5`, `L3-R2` or `3,2`; `R4` has none before."]
    dependency: Annotated[str | None, None, "By a relation (`nsubj`, `*` for all) instead."]
    by: Annotated[Literal["word", "lemma"], "word", "Collocates as words or as lemmas."]
    pos: Annotated[str | None, None, "Only what has one of these parts of speech: `NOUN`, or `ADJ,NN*`; `content`: no function words."]
    measure: Annotated[Literal["logdice", "pmi", "log-likelihood", "count", "mi2", "mi3", "t-score", "z-score", "dice", "delta-p-collocate", "delta-p-node", "fisher", "min-sensitivity"], "logdice", "What to rank by."]
    all_measures: Annotated[bool, False, "Show all measures, not only the usual ones and that asked for."]
    graph: Annotated[bool, False, "Show, too, which of the collocates are collocates of each other, a row a pair of words."]
    min_count: Annotated[int, 2, "Omit lower counts."]
    sort: Annotated[str, "", "Sort all rows by this column, by `-dp` from its end, before some of them are shown."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]
    filter: Annotated[str | Sequence[str], (), "Only hits near which this matches, a pattern or CQL; several, one after the other."]
    within: Annotated[str | Sequence[str], (), "How near, of each filter or of all: `5` tokens on each side (if none is given), `3L`, `2R`, `L3-R2`; `not 3L` drops the hits instead."]
    strategy: Annotated[Literal["all", "longest", "shortest", "standard", "traditional"] | None, None, "Which matches of a CQL query to keep: all unless given, but those of CQP (standard) in its dialect."]
    dialect: Annotated[Literal["sentgen", "cqp", "blacklab"], "sentgen", "Read a query as CWB (cqp) or BlackLab does, which goes over the ends of sentences."]
    across: Annotated[bool, False, "Let matches, windows and contexts run over the ends of sentences, inside a document."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class SketchOptions(TypedDict, total=False):
    """The strongest collocates of a word in each dependency relation."""

    against: Annotated[str | None, None, "Another word: what each has that the other has not, and what they share."]
    by: Annotated[Literal["word", "lemma"], "lemma", "Collocates as words or as lemmas."]
    measure: Annotated[Literal["logdice", "pmi", "log-likelihood", "count", "mi2", "mi3", "t-score", "z-score", "dice", "delta-p-collocate", "delta-p-node", "fisher", "min-sensitivity"], "logdice", "What to rank by."]
    min_count: Annotated[int, 2, "Omit lower counts."]
    function_words: Annotated[bool, False, "Function words and punctuation, too."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 10, "Collocates of a relation; 0 for all."]


class ThesaurusOptions(TypedDict, total=False):
    """Words of the same class with the same collocates."""

    by: Annotated[Literal["word", "lemma"], "lemma", "Compare words or lemmas."]
    min_count: Annotated[int, 2, "Collocates to share at least."]
    function_words: Annotated[bool, False, "Function words and punctuation as collocates, too."]
    corpus: Annotated[str | Sequence[str], (), "Only these corpora."]
    where: Annotated[str | None, None, "Only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class KeynessOptions(TypedDict, total=False):
    """What is more frequent in some corpora than in others."""

    where: Annotated[str | None, None, "Only sentences of these corpora whose metadata meet this: `genre = academic`."]
    against_where: Annotated[str | None, None, "Only sentences of the others whose metadata meet this: `genre = fiction`."]
    by: Annotated[Literal["word", "lemma", "upos", "xpos", "deprel"], "word", "What to compare."]
    n: Annotated[int, 1, "Compare sequences of so many tokens, inside a sentence."]
    pos: Annotated[str | None, None, "Only what has one of these parts of speech: `NOUN`, or `ADJ,NN*`; `content`: no function words."]
    stop: Annotated[str | None, None, "Leave out these words, a list with blanks or ends of lines between them; case is ignored."]
    measure: Annotated[Literal["log-likelihood", "log-ratio", "percent-diff", "odds-ratio", "simple-maths"], "log-likelihood", "What to rank by."]
    constant: Annotated[float, 1, "What `simple-maths` adds to rates per million: more for more frequent words."]
    negative: Annotated[bool, False, "Begin with what is rarer in these corpora than in the others."]
    min_count: Annotated[int, 1, "Omit lower counts."]
    sort: Annotated[str, "", "Sort all rows by this column, by `-dp` from its end, before some of them are shown."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]
    ignore_case: Annotated[bool, False, "Ignore the case of letters: `The` and `the` are one word."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class PairOptions(TypedDict, total=False):
    """How pairs are found and how texts become words; control characters refuse a pair, if not replaced."""

    tokenized: Annotated[bool, False, "Blanks separate the words, and a string is a sentence."]
    document_words: Annotated[int, 0, "Keep the first sentences of a document with N words; 0: all."]
    document_field: Annotated[str | None, None, "Field of JSON objects with the document."]
    abstract_field: Annotated[str | None, None, "Field of JSON objects with the abstract."]
    replace_controls: Annotated[bool, False, "Put blanks in place of control characters (JSON)."]
    licence: Annotated[str | None, None, "Licence to record."]
    order: Annotated[int, 1, "Highest order of n-grams to count."]
    on_error: Annotated[str, "raise", "A bad pair stops everything (raise), or is left out (skip)."]


class BuildOptions(TypedDict, total=False):
    """A model of some corpora."""

    order: Annotated[int, 4, "Highest order of n-grams."]
    smoothing: Annotated[str, "kneser-ney", "kneser-ney, katz or stupid-backoff."]
    min_count: Annotated[str | Sequence[int] | None, None, "Lowest count kept per order; the last one for the rest."]
    unknown: Annotated[str, "word", "Unknown words: word (one `<unk>`), tag (one per tag) or none."]
    brackets: Annotated[bool, False, "Count the brackets of base noun phrases, `<np>` and `</np>`, as words."]
    over: Annotated[str, "words", "What n-grams are made of: words, tags, classes, items."]
    classes: Annotated[int | None, None, "Frequent words that classes and items keep. Default: 150."]
    where: Annotated[str | None, None, "Count only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    sentences: Annotated[int | None, None, "Count only N of the sentences, drawn by `seed`."]
    share: Annotated[float | None, None, "Count only this share of the sentences, drawn by `seed`."]
    seed: Annotated[int, 1, "Seed by which sentences are drawn."]
    companions: Annotated[bool, False, "Also build NAME-tags, NAME-classes and NAME-items, the models over these of the same corpora, which joint decoding asks as well."]


class MixOptions(TypedDict, total=False):
    """A mixture of some models."""

    weights: Annotated[str | Sequence[float] | None, None, "What they weigh, in the same order. Default: all the same."]
    tune: Annotated[str | None, None, "Learn the weights from the sentences of this file."]
    tune_corpus: Annotated[str | None, None, "Learn the weights from the sentences of this corpus."]
    format: Annotated[str | None, None, "Format of `tune`; detected if not given."]
    dynamic: Annotated[bool, False, "Store the weights alone, and sum what the models give when it is asked for."]


class PruneOptions(TypedDict, total=False):
    """A smaller model."""

    entropy: Annotated[float | None, None, "Drop n-grams that each lower the perplexity by less than this share, such as 1e-8."]
    min_count: Annotated[str | Sequence[int] | None, None, "Drop rarer n-grams: the lowest count per order, the last one for the rest."]


class CompareOptions(TypedDict, total=False):
    """Models, and a text."""

    test: Annotated[str | None, None, "Sentences to ask them about."]
    corpus: Annotated[str | None, None, "The sentences of this corpus instead of a text."]
    format: Annotated[str | None, None, "Format of the text; detected if not given."]
    seed: Annotated[int, 1, "Seed of the samples."]


class VectorOptions(TypedDict, total=False):
    """Vectors of the words of some corpora."""

    dimensions: Annotated[int, 200, "Numbers of each vector."]
    contexts: Annotated[Literal["window", "dependencies", "both"], "window", "Contexts: words around, relations with the word at their other end, or both."]
    window: Annotated[int, 2, "Words on each side that are contexts."]
    min_count: Annotated[int, 10, "Words that are rarer have no vector."]
    words: Annotated[int, 50000, "Number of words with vectors, the most frequent ones."]
    smoothing: Annotated[float, 0.75, "Power of the counts of contexts in PPMI (0.75: Levy et al. 2015)."]
    shift: Annotated[float, 1.0, "Take the logarithm of this from PPMI."]
    power: Annotated[float, 0.5, "Power of the singular values that dimensions are multiplied by."]
    where: Annotated[str | None, None, "Count only sentences whose metadata meet this: `genre = academic and year >= 2010`."]
    seed: Annotated[int, 1, "Seed of the decomposition."]


class NearOptions(TypedDict, total=False):
    """Words near a word or a phrase."""

    vectors: Annotated[str | None, None, "Name of the vectors; those that were built last if not given."]
    min_count: Annotated[int, 1, "Omit lower counts."]
    sort: Annotated[str, "", "Sort all rows by this column, by `-dp` from its end, before some of them are shown."]
    offset: Annotated[int, 0, "Rows to leave out at the beginning."]
    limit: Annotated[int, 20, "Rows; 0 for all."]


class ScoreOptions(TypedDict, total=False):
    """Sentences, words separated by blanks; or raw text; or what is stored."""

    corpus: Annotated[str | Sequence[str], (), "Score the stored sentences of these corpora or subcorpora instead of a text."]
    where: Annotated[str | None, None, "Of these, only sentences whose metadata meet this: `genre = academic`."]
    by: Annotated[str, "sentence", "What rows are of: sentence, token, or of corpora document or a kind of regions, such as `p`."]
    keep_below: Annotated[float | None, None, "Only sentences with a lower perplexity."]
    totals: Annotated[bool, False, "The totals instead of the sentences."]
    lowercase: Annotated[bool | None, None, "Look words up lower-cased. Default: as the model's corpora."]
    tokenize: Annotated[bool, False, "The text is raw: split it into sentences and words first, as that of the model's corpora."]


class RegenerateOptions(TypedDict, total=False):
    """Bags of words and [base noun phrases]; their order does not matter."""

    algorithm: Annotated[str, "auto", "One of: greedy, lmo, viterbi, beam, joint, prim, prim-ngram, prim-arg, cle, ab; auto is joint where there are trees, else beam."]
    units: Annotated[Literal["np", "word"], "np", "Keep base noun phrases whole, or break them up."]
    np_joiner: Annotated[str, "", "What joins the words of a phrase, as in the_dow."]
    tagged: Annotated[bool | None, None, "Words are word/TAG. Default: if all have a known tag."]
    lowercase: Annotated[bool | None, None, "Look words up lower-cased. Default: as the model's corpora."]
    seed: Annotated[int, 1, "Seed of the shuffle that breaks ties."]
    nbest: Annotated[int, 1, "Sentences to give for each bag, at most."]
    tree: Annotated[bool, False, "Give the dependency trees, also as SVG and CoNLL-U."]
    explain: Annotated[bool, False, "Give what is behind each attachment, or word, instead."]
    parts: Annotated[bool, False, "Give what each model, factor of trees and scorer says of a sentence, too."]
    as_published: Annotated[Literal["2007", "2009"] | None, None, "Take every literal reading of a paper."]
    order: Annotated[int | None, None, "Order of the n-grams."]
    beam: Annotated[int | None, None, "Hypotheses kept a stack."]
    rerank: Annotated[str | None, None, "Models or scorers that choose among the best sentences, and what they weigh beside the 1 of the algorithm's score, joined by commas or +."]
    lmo_context: Annotated[Literal["phrase", "string"] | None, None, "What a unit joins: the last one, or all so far."]
    features: Annotated[str | None, None, "Models to ask as well, and what they weigh beside the words' 1, joined by commas or +; auto for those over tags, classes and items of the model's corpora, and text, of more text."]
    factors: Annotated[str | None, None, "Factors of trees, and what they weigh beside the words' 1. There are: relations, lexical, distances, arguments, siblings."]
    weights: Annotated[str | None, None, "Weights: learnt for those that `sentgen tune` learnt last, if it did, their version, or default."]
    starts: Annotated[int | None, None, "Sentences of the beam whose trees are scored."]
    climbers: Annotated[int | None, None, "Sentences of the beam that the search climbs from."]
    rounds: Annotated[int | None, None, "Moves that are made from each of them."]
    candidates: Annotated[int | None, None, "Moves a round of which the trees are scored."]
    verb_root: Annotated[bool | None, None, "Only a verb may be the root, if there is one."]
    noun_under_noun: Annotated[bool | None, None, "A noun may modify a noun."]
    one_root: Annotated[bool | None, None, "Only one unit may be the root."]
    theft: Annotated[Literal["off", "sum", "printed"] | None, None, "How an edge is scaled that takes a word from another head."]
    q: Annotated[Literal["paper", "learned"] | None, None, "Argument positions: by the paper's rule, or as seen."]
    padding: Annotated[Literal["free", "literal"] | None, None, "Let any position stay empty, or as in the paper."]
    padding_cost: Annotated[float | None, None, "Cost of a position that stays empty, in nats."]
    dependencies: Annotated[str | Sequence[str] | None, None, "Treebanks to take dependencies from. Default: the model's corpora."]
    parser: Annotated[str | None, None, "Find the heads of phrases that have none: NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE."]


class AlignOptions(TypedDict, total=False):
    """What is chosen of `align text`, in the names of its options."""

    model: Annotated[str | None, None, "A model of `sentgen align train`."]
    system: Annotated[str | None, None, "Another aligner: NAME[:SETTING=VALUE], such as cut-and-paste."]
    preset: Annotated[Literal["paper", "best"] | None, None, "Settings of the aligner without a model; best if not given."]
    vectors: Annotated[str | None, None, "Vectors of `sentgen vectors build`: words that they bring near are related."]
    decode: Annotated[Literal["viterbi", "posterior"] | None, None, "The best path, or links with a high posterior."]
    threshold: Annotated[float | None, None, "Least posterior of a link."]
    explain: Annotated[bool, False, "Say what each link is made of, and what it was chosen among."]
    format: Annotated[str | None, None, "Format of both texts; detected if not given."]


class GenerateOptions(TypedDict, total=False):
    """Clusters: documents of a corpus, or a text with trees (or any text with a parser)."""

    lengths: Annotated[str | int | Iterable[int], "1-40", "Words of a sentence, such as 1-40 or 5,10-12."]
    sentence: Annotated[str | None, None, "Read this sentence, its words separated by blanks, with probabilities and head stack by word."]
    nbest: Annotated[int, 1, "Sentences to give for each length, at most."]
    best: Annotated[bool, False, "Give the best sentences of all lengths, not of each."]
    corpus: Annotated[str | None, None, "Take the clusters that this corpus has, instead of a text."]
    cluster: Annotated[str | Sequence[str], (), "Only these documents."]
    format: Annotated[str | None, None, "Format of the text; detected if not given."]
    algorithm: Annotated[Literal["depviterbi", "bigram"], "depviterbi", "With dependencies, or the baseline."]
    weight: Annotated[float, 0.5, "Weight of dependencies against bigrams."]
    reuse: Annotated[Literal["none", "counts", "free"], "none", "Each token once, a word as often as in one sentence, or freely."]
    transitions: Annotated[Literal["all", "seen"], "all", "A word may follow any other, or only as seen."]
    arguments: Annotated[Literal["all", "supported"], "all", "A word may have any argument, or only one that a sentence of the cluster gives it."]
    smoothing: Annotated[Literal["none", "collins"], "none", "Of dependencies: none, or back-off to tags."]
    nearness: Annotated[float, 1.0, "What each item above one on the head stack leaves of its relations' probability; 1 leaves all."]
    dependencies: Annotated[str | Sequence[str], (), "Treebanks whose dependencies those of the cluster back off to."]
    rerank: Annotated[str | None, None, "Choose among the best sentences of each length by this model, or scorer of a plug-in."]
    rerank_weight: Annotated[float, 0.5, "Weight of the model of `rerank` beside the cluster."]
    salience: Annotated[Literal["uniform", "unigram", "tfidf"] | Mapping[str, float], "uniform", "Which words are chosen: all alike, or by frequency."]
    beam: Annotated[int | None, None, "Paths for each length and last word."]
    punct: Annotated[bool, True, "Keep punctuation."]
    lowercase: Annotated[bool, False, "Lower-case words."]
    lm: Annotated[str, "cluster", "Bigrams of the cluster alone, or mixed with those of a model."]
    lm_weight: Annotated[float, 0.5, "Weight of the cluster's own bigrams beside `lm`."]
    tree: Annotated[bool, False, "Give the dependency trees, also as SVG and CoNLL-U."]
    trace: Annotated[bool, False, "Give probabilities and head stack by word."]
    parser: Annotated[str | None, None, "Parse what has no trees: NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE."]


class FuseOptions(TypedDict, total=False):
    """A key sentence and related ones, with trees (CoNLL-U), or any text with a parser."""

    model: Annotated[str | None, None, "Language model with treebanks to go by, instead of the sentences alone."]
    algorithm: Annotated[str, "revise", "revise, or depviterbi (2005); with model also one of: greedy, lmo, viterbi, beam, joint, prim, prim-ngram, prim-arg, cle, ab."]
    words: Annotated[int, 24, "Words to add to the key sentence, at most."]
    weight: Annotated[float, 0.2, "Weight of the dependencies, for depviterbi."]
    nbest: Annotated[int, 1, "Sentences to give, at most."]
    seed: Annotated[int, 1, "Seed of the shuffle that breaks ties."]
    format: Annotated[str | None, None, "Format of the files; detected if not given."]
    parser: Annotated[str | None, None, "Parse what has no trees: NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE."]


class CheckOptions(TypedDict, total=False):
    """Two texts, with trees (CoNLL-U) or a parser; of texts without trees, only words are checked."""

    lemmas: Annotated[bool, False, "Compare lemmas instead of forms."]
    match_case: Annotated[bool, False, "Tell upper from lower case; it is ignored otherwise."]
    other_words: Annotated[bool, False, "Count other words as support: other forms, other spellings, synonyms, and passives for actives."]
    words: Annotated[bool, False, "Check words alone, a row a word, for which no trees are needed."]
    format: Annotated[str | None, None, "Format of both texts; detected if not given."]
    parser: Annotated[str | None, None, "Parse what has no trees: NAME of a trained one, udpipe:FILE, spacy:NAME or stanza:LANGUAGE."]


class TrainOptions(TypedDict, total=False):
    """Options of the training; ``memory`` is in bytes, for everything."""

    iterations: Annotated[int, 10, "Iterations of EM, in each direction."]
    drop: Annotated[float, 1e-06, "Forget phrases expected less often; 0: none."]
    jobs: Annotated[int, 1, "Threads."]
    resume: Annotated[bool, False, "Go on with a model that was begun; its settings hold."]
    preset: Annotated[Literal["paper", "best"], "best", "Settings of the model: the paper's, or better ones."]
    max_doc_phrase: Annotated[int | None, None, "Most words of a document phrase; paper: 4, best: 1."]
    max_abstract_phrase: Annotated[int | None, None, "Most words of an abstract phrase; paper: 4, best: 1."]
    setting: Annotated[str | Sequence[str], (), "Any other settings, such as p0=0.2."]
    vectors: Annotated[str | None, None, "Vectors: words that they bring near are related."]


class TuneOptions(TypedDict, total=False):
    """The gold links of a model's tuning."""

    format: Annotated[str, "pharaoh", "Their format: edinburgh, rte, mtref, multimwa, handalign or pharaoh."]
    combine: Annotated[str, "half", "Links of several annotators: drawn by half of them, by any, by all, or by one."]
    limit: Annotated[int | None, None, "Only the first N pairs."]
    prior: Annotated[float, 8.0, "Strength of the prior that holds weights near 0."]
    iterations: Annotated[int, 60, "Most iterations, in each direction."]


class ApplyOptions(TypedDict, total=False):
    """What is chosen of `align text`, in the names of its options."""

    preset: Annotated[Literal["paper", "best"] | None, None, "Settings of the aligner without a model; best if not given."]
    vectors: Annotated[str | None, None, "Vectors of `sentgen vectors build`: words that they bring near are related."]
    decode: Annotated[Literal["viterbi", "posterior"] | None, None, "The best path, or links with a high posterior."]
    threshold: Annotated[float | None, None, "Least posterior of a link."]
