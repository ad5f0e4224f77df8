"""What the pages compute by themselves: patterns, links, figures, histograms; and what they ask the store."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hostile import DOCUMENT, HOSTILE, LONG, name
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from sentgen.errors import NotFoundError
from sentgen.lookups.base.patterns import glob
from sentgen.lookups.browsing import DocumentSentences, find_sentence
from sentgen.lookups.concordances.concordance import Kwic
from sentgen.lookups.pair_lines import PairLines
from sentgen.lookups.statistics.collocations import CollocateUnit
from sentgen.lookups.statistics.sketch import Sketch
from sentgen.output.display import MOST_CHARACTERS, MOST_OF_WORD, NATURAL, last_part, shown, visible
from sentgen.schema import Store
from sentgen.schema.guard import require_harmless
from sentgen.schema.store import fetch_arrow, raw
from sentgen.server.operations import Limits, Opening
from sentgen.server.operations.lookups import Documents
from sentgen.server.operations.operation import Context
from sentgen.server.operations.score import Backoff, _backoff
from sentgen.server.pages import api, measures, site, word
from sentgen.server.pages.page import PageAnswer, PageParameters
from sentgen.server.pages.texts import link, literal_pattern, phrase_pattern, token_pattern
from sentgen.server.settings import ServerSettings

OPENING = Opening("compute", "", Limits())


@pytest.fixture(scope="module")
def held(store: Path):
    """The store of the pages, open."""
    with Store(store, read_only=True) as found:
        yield found


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Z")), min_size=1))
def test_a_literal_pattern_is_the_word(text):
    """Whatever a word holds, its pattern has no wild cards and stands for the word alone."""
    read = glob(literal_pattern(text))

    assert (read.text, read.wild) == (text, False)


@pytest.mark.parametrize("form", ["5*", "a/b", "word:x", "?", "\\", "{{7*7}}", "camp", LONG])
def test_a_token_pattern_finds_its_word(form, held):
    """In a concordance, the pattern of a word finds that word and nothing else."""
    with held.connect() as connection:
        found = Kwic(pattern=token_pattern(form), corpus=[HOSTILE]).ask(connection)

    assert found.table["node"].to_pylist() == [form]


def test_a_phrase_with_the_end_of_a_sentence_has_no_hits():
    """`<s>` and `</s>` are no tokens, so that a count with them leads nowhere."""
    assert phrase_pattern(["the", "camp"]) == "the camp"
    assert phrase_pattern(["camp", "</s>"]) == ""


def test_texts_are_shortened():
    """Of a long text the beginning, or the end, is shown; a long word loses its tail in any text."""
    assert shown("a b " * 100) == f"{('a b ' * 100)[:MOST_CHARACTERS]}… (400 characters)"
    assert last_part("a b " * 100) == f"…{('a b ' * 100)[-MOST_CHARACTERS:]}"
    assert shown(f"He said {LONG}").endswith(f"{'x' * MOST_OF_WORD}… (4,096 characters)")


def test_characters_that_turn_text_around_are_made_visible():
    """An override of the direction becomes a sign; right-to-left words stay."""
    assert visible("\u202eevil مرحبا\x07") == "\ufffdevil مرحبا\ufffd"


def test_a_link_leaves_out_what_is_empty():
    """Lists are repeated, and everything is quoted."""
    assert link("/word", word="a b&c", corpus=["x", "y"], layer="") == "/word?word=a+b%26c&corpus=x&corpus=y"


def test_numbers_in_urls_are_bounded():
    """What is no number is the default; others are kept within their bounds."""
    query = PageParameters(QueryParams("a=5&b=9999&c=x&d=-3&e=1"))

    found = [query.number(key, 50, least=2, most=500) for key in "abcdef"]
    assert found == [5, 500, 50, 50, 2, 50]


def test_a_choice_is_one_of_those_offered():
    """Anything else is the first one."""
    assert PageParameters(QueryParams("sort=left")).choice("sort", ("none", "left")) == "left"
    assert PageParameters(QueryParams("sort=<script>")).choice("sort", ("none", "left")) == "none"


def test_events_are_summed_over_distances():
    """`the` twice at distance 1 and once at 3 is three times; of equals, the first by word comes first."""
    rows = [
        {"modifier": "the", "modifier_tag": "DT", "direction": "left", "distance": 1, "count": 2},
        {"modifier": "the", "modifier_tag": "DT", "direction": "left", "distance": 3, "count": 1},
        {"modifier": "in", "modifier_tag": "IN", "direction": "left", "distance": 1, "count": 1},
        {"modifier": "a", "modifier_tag": "DT", "direction": "left", "distance": 1, "count": 1},
        {"modifier": ".", "modifier_tag": ".", "direction": "right", "distance": 1, "count": 9},
    ]
    before, after, *heads = word._profile(PageAnswer(rows=rows), PageAnswer())

    assert before.words == [("the", "DT", 3), ("a", "DT", 1), ("in", "IN", 1)]
    assert after.words == [(".", ".", 9)]
    assert [side.words for side in heads] == [[], []]


def test_histograms_have_a_bar_for_each_number():
    """Counts by number of modifiers, one histogram for each tag and side; 7 is seven and more."""
    rows = [
        {"tag": "VBD", "direction": "left", "arguments": 0, "count": 1, "share": 0.25},
        {"tag": "VBD", "direction": "left", "arguments": 7, "count": 3, "share": 0.75},
        {"tag": None, "direction": "right", "arguments": 1, "count": 2, "share": 1.0},
    ]
    first, second = word._histograms(PageAnswer(rows=rows))

    assert first.counts == [1, 0, 0, 0, 0, 0, 0, 3]
    assert first.described == "1 with 0, 3 with 7"
    assert (second.tag, second.side, second.shares[1]) == ("", "right", 1.0)


def test_documents_are_listed_in_parts(held):
    """The demo has 34 documents; a part says whether there are more."""
    with held.connect() as connection:
        first = Documents(corpus=["relief"], limit=30).ask(connection)
        rest = Documents(corpus=["relief"], limit=30, offset=30).ask(connection)
        both = Documents(limit=100).ask(connection)

    assert (first.table.num_rows, first.truncated) == (30, True)
    assert (rest.table.num_rows, rest.truncated, rest.total) == (4, False, 34)
    assert set(both.table["corpus"].to_pylist()) == {"relief", "texts", HOSTILE}


def test_a_sentence_is_found_by_its_names(held):
    """Names may hold anything; the neighbors of a sentence stay in its document."""
    with held.connect() as connection:
        sentences = DocumentSentences(corpus=HOSTILE, document=DOCUMENT, limit=2).ask(connection)
        tokens, about = find_sentence(connection, HOSTILE, DOCUMENT, name(2))

    assert sentences.table["sentence"].to_pylist() == [name(0), name(1)]
    assert tokens.table["form"].to_pylist()[:3] == ["He", "said", LONG]
    assert (about["previous"], about["next"]) == (name(1), None)


def test_a_missing_sentence_is_told(held):
    """The message has all three names."""
    with (
        held.connect() as connection,
        pytest.raises(NotFoundError, match=r"'z' in document 'y' of corpus 'x'"),
    ):
        find_sentence(connection, "x", "y", "z")


def test_the_sql_of_a_path_holds_its_ngrams(held):
    """The statement under a back-off path, run by itself, gives the same probability."""
    found = _backoff(Context(OPENING, held), Backoff(model="relief", ngram="unheard of the camp"))
    last = found.table.rows[-1]
    rows = ran(held, found.sql[0])

    assert last[2] is True
    assert {row["ngram"]: row["log10p"] for row in rows}[last[0]] == pytest.approx(last[3])


@pytest.mark.parametrize("example", api.EXAMPLES, ids=lambda one: one.name)
def test_examples_of_sql_run(example, held):
    """Each example passes the guard and gives rows from the demo."""
    assert ran(held, example.parameters["query"])


def test_without_sql_there_is_no_page_for_it():
    """A server without SQL has neither the page nor its files."""
    with_sql = {route.path for route in site.router(ServerSettings(Path())).routes}
    without = {route.path for route in site.router(ServerSettings(Path(), sql=False)).routes}

    assert with_sql - without == {"/sql", "/sql/{name}"}


def test_files_change_their_url_with_their_content():
    """So that a browser can keep them."""
    assert site._static_path("style.css").startswith("/static/style.css?v=")


@pytest.mark.parametrize("template", sorted(site.environment().list_templates()))
def test_templates_hold_no_inline_script_or_style(template):
    """The policy of the server would not run them; and nothing is loaded from elsewhere."""
    source = site.environment().loader.get_source(site.environment(), template)[0]

    assert "style=" not in source
    # A refusal stands alone: whoever has no token gets no style sheet, and its policy names the hash of this.
    assert "<style" not in source or template == "refused.html.j2"
    assert " onclick" not in source
    assert "http" not in source.replace("http-equiv", "")
    assert all("src=" in tag for tag in source.split("<script")[1:])
    # Pages show decimal logarithms; the natural ones of the same rows are for programs.
    assert not re.search(rf"\.({'|'.join(NATURAL)})\b", source)


def ran(held: Store, query: str) -> list[dict[str, object]]:
    """The rows of a query that has passed the guard."""
    with held.connect() as connection:
        require_harmless(raw(connection), query)
        return fetch_arrow(connection, query).to_pylist()


@pytest.mark.parametrize(
    ("roots", "there", "chosen"),
    [
        ([{"head": "<root>"}], ["relief"], ["joint", "ab"]),
        ([], ["relief"], ["beam", "lmo"]),
        # Its corpora were removed, or it came from an ARPA file.
        ([{"head": "<root>"}], [], ["beam", "lmo"]),
    ],
)
def test_trees_say_which_algorithms_are_checked(roots, there, chosen):
    """Those of the corpora of the model; what is in the address comes first."""

    async def ask(name, /, **asked):
        rows = {
            "models": [{"name": "m", "version": 1, "over": "words", "corpora": "relief, gone"}],
            "corpora": [{"corpus": one} for one in there],
            "dependencies": roots,
            "documents": [],
        }
        assert asked.get("corpus", there) == there
        return PageAnswer(rows=rows[name])

    regenerate = next(page for page in site.PAGES if page.path == "/regenerate")

    def viewed(query):
        return asyncio.run(regenerate.view(ask, PageParameters(QueryParams(query))))["chosen"]

    assert viewed("") == chosen
    assert viewed("algorithm=cle") == ["cle"]


@pytest.mark.parametrize("word", ["lemma:camp", "the", "camp/NN", "upos:NOUN", "lemma:say"])
@pytest.mark.parametrize("by", ["lemma", "word"])
def test_a_count_of_a_sketch_leads_to_as_many_hits(word, by, held):
    """The request behind each count finds the pairs that were counted."""
    asked = {"word": word, "against": "", "by": by, "corpus": ["relief"], "ignore_case": ""}
    with held.connect() as connection:
        question = Sketch(
            word=word, by=CollocateUnit(by), corpus=["relief"], min_count=1, limit=3, function_words=True
        )
        answer = PageAnswer(rows=question.ask(connection).table.to_pylist())
        rows = [row for one in measures._relations(answer, asked) for row in one.rows]
        assert rows
        assert word != "lemma:camp" or any(row["preposition"] for row in rows)

        async def asked_of(name, /, **given):
            given |= {"by": CollocateUnit(given["by"]), "where": None, "ignore_case": False, "limit": 0}
            found = PairLines(**given)
            assert found.ask(connection).rows.num_rows == row["count"], row
            return PageAnswer(rows=[])

        hits = next(page for page in site.PAGES if page.path == "/hits")
        for row in rows[:: len(rows) // 20 + 1]:
            query = PageParameters(QueryParams(urlsplit(row["link"]).query))
            asyncio.run(hits.view(asked_of, query))
