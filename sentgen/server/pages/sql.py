"""SQL: one query in the URL, the data dictionary beside it, results as a table or a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sentgen.schema import dictionary
from sentgen.server.pages.examples import PageExample
from sentgen.server.pages.page import Asking, ListPart, Page, PageAnswer, PageParameters

_ROWS = 200


EXAMPLES = (
    PageExample("What the store holds", {"query": "select * from v_corpora order by corpus"}),
    PageExample(
        "The most frequent trigrams inside sentences",
        {
            "query": "select w1, w2, w3, count\nfrom v_ngrams_3\nwhere w1 <> '<s>' and w3 <> '</s>'\n"
            "order by count desc, w1, w2, w3\nlimit 20"
        },
    ),
    PageExample(
        "How long the sentences are",
        {
            "query": "select corpus, count(*) as sentences, median(length) as median,\n"
            "  max(length) as longest\nfrom v_sentences\ngroup by corpus\norder by corpus"
        },
    ),
    PageExample(
        "Modifiers on both sides of the same head",
        {
            "query": "select head, modifier,\n  sum(count) filter (direction = 'left') as before,\n"
            "  sum(count) filter (direction = 'right') as after\nfrom v_dependencies\n"
            "where layer = 'unit' and level = 'word-word'\ngroup by all\nhaving before > 0 and after > 0\n"
            "order by before + after desc, head, modifier\nlimit 20"
        },
    ),
    PageExample(
        "What verbs have as subjects",
        {
            "query": "select h.lemma as verb, t.lemma as subject, count(*) as count\nfrom v_tokens as t\n"
            "join v_tokens as h on h.sentence_id = t.sentence_id and h.position = t.head\n"
            "where t.deprel = 'nsubj' and h.upos = 'VERB'\ngroup by all\norder by count desc, verb, subject\n"
            "limit 20"
        },
    ),
    PageExample(
        "Where models back off: the lowest weights",
        {
            "query": "select model, version, n, ngram, log10_backoff\nfrom v_model_ngrams\nwhere n = 2\n"
            "order by log10_backoff, model, version, ngram\nlimit 20"
        },
    ),
)


async def _view(ask: Asking, query: PageParameters) -> Mapping[str, object]:
    """Run the query, if there is one."""
    text, part = query.raw("query").strip(), ListPart("/sql", query, _ROWS)
    # The first call makes a store in memory, which would hold up all requests.
    relations = await asyncio.to_thread(dictionary.relations)
    return {
        "text": text,
        "part": part,
        "answer": await _rows(ask, text, part) if text else None,
        "examples": EXAMPLES,
        "relations": relations,
    }


async def _rows(ask: Asking, text: str, part: ListPart) -> PageAnswer:
    """Ask for the rows up to those that are shown, or to sort them, for all."""
    answer = await ask("sql", sql=text, limit=0 if part.sort else part.offset + part.rows)
    if part.sort and answer.truncated:
        return ask.problem("there are more rows than can be sorted here; write: order by", 400)
    return part.cut(answer)


PAGES = (Page("/sql", "SQL", "sql.html.j2", _view, asks=("sql",)),)
