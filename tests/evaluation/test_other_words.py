"""Support in other words: related words, and passive for active clauses in every scheme of labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sentgen.corpus.sentence import Sentence
from sentgen.evaluation.check import check as check_module
from sentgen.evaluation.check.check import SupportCheck, check
from sentgen.evaluation.check.page import page


@pytest.fixture(autouse=True)
def _own_synonyms_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave WordNet out, so that tests do not depend on its installation."""
    monkeypatch.setattr(check_module, "find_wordnet", lambda: None)


def tree(text: str) -> Sentence:
    """Read `form/TAG/head/relation` tokens; tags are those of the Penn Treebank."""
    forms, tags, heads, relations = zip(*(token.split("/") for token in text.split()), strict=True)
    return Sentence(
        list(forms), xpos=list(tags), heads=[int(head) for head in heads], deprels=list(relations)
    )


def reworded(summary: str, source: str) -> dict[str, str]:
    """Return the words of the summary with support in other words, and their differences."""
    found = check([tree(summary)], [tree(source)], other_words=True)
    return {
        summary.split()[claim.argument.modifier].split("/")[0]: " ".join(claim.found.ways)
        for claim in found.claims
        if claim.found
    }


ACTIVE = {
    "UD": "workers/NNS/2/nsubj sent/VBD/0/root trucks/NNS/2/obj",
    "ClearNLP": "workers/NNS/2/nsubj sent/VBD/0/root trucks/NNS/2/dobj",
    "SUD": "workers/NNS/2/subj sent/VBD/0/root trucks/NNS/2/comp:obj",
    "Penn": "workers/NNS/2/SBJ sent/VBD/0/ROOT trucks/NNS/2/OBJ",
}
PASSIVE = {
    "UD": "trucks/NNS/3/nsubj:pass were/VBD/3/aux:pass sent/VBN/0/root by/IN/5/case workers/NNS/3/obl:agent",
    "UD, no agents": "trucks/NNS/3/nsubj:pass were/VBD/3/aux:pass sent/VBN/0/root by/IN/5/case workers/NNS/3/obl",
    "UD, of a parser": "trucks/NNS/3/nsubj were/VBD/3/aux:pass sent/VBN/0/root by/IN/5/case workers/NNS/3/obl",
    "UD, participle": "trucks/NNS/0/root sent/VBN/1/acl by/IN/4/case workers/NNS/2/obl",
    "ClearNLP": "trucks/NNS/3/nsubjpass were/VBD/3/auxpass sent/VBN/0/root by/IN/3/agent workers/NNS/4/pobj",
    "SUD": "trucks/NNS/2/subj@pass were/VBD/0/root sent/VBN/2/comp:aux@pass by/IN/3/comp:obl@agent workers/NNS/4/comp:obj",
    "Penn": "trucks/NNS/2/SBJ were/VBD/0/ROOT sent/VBN/2/VC by/IN/3/LGS workers/NNS/4/PMOD",
}


@pytest.mark.parametrize("passive", PASSIVE)
@pytest.mark.parametrize("active", ACTIVE)
def test_an_active_clause_has_support_of_a_passive_one(active: str, passive: str) -> None:
    """Agent and patient are the same in an active and a passive clause, within and across label schemes."""
    assert reworded(ACTIVE[active], PASSIVE[passive]) == {"workers": "passive", "trucks": "passive"}


@pytest.mark.parametrize("active", ACTIVE)
@pytest.mark.parametrize("passive", [name for name in PASSIVE if name != "UD, participle"])
def test_a_passive_clause_has_support_of_an_active_one(active: str, passive: str) -> None:
    """The auxiliary of the passive has support, too; the object of *by* is the agent."""
    found = reworded(PASSIVE[passive], ACTIVE[active])
    agent = "by" if passive in ("ClearNLP", "SUD", "Penn") else "workers"
    # If an auxiliary is the head, the verb is its argument.
    auxiliary = "sent" if passive in ("SUD", "Penn") else "were"

    assert found == dict.fromkeys(("trucks", agent, auxiliary), "passive")


def test_who_does_it_is_not_whom_it_is_done_to() -> None:
    """*The dog was chased* does not support *the dog chases*, nor the other way around."""
    active = "dogs/NNS/2/nsubj chase/VBP/0/root cats/NNS/2/obj"
    passive = "dog/NN/3/nsubj:pass is/VBZ/3/aux:pass chased/VBN/0/root by/IN/5/case cat/NN/3/obl:agent"

    assert reworded(active, passive) == reworded(passive, active) == {}


@pytest.mark.parametrize(
    ("summary", "source", "found"),
    [
        ("sends/VBZ/0/root truck/NN/1/obj", "send/VBD/0/root trucks/NNS/1/obj", {"truck": "form"}),
        ("paid/VBD/0/root 25/CD/1/obj", "paid/VBD/0/root twenty-five/CD/1/obj", {"25": "spelling"}),
        ("gave/VBD/0/root food/NN/1/obj", "provided/VBD/0/root food/NN/1/obj", {}),
        ("give/VB/0/root food/NN/1/obj", "provided/VBD/0/root food/NN/1/obj", {"food": "synonym"}),
        ("give/VB/0/root Food/NN/1/obj", "SUPPLY/VB/0/root foods/NN/1/obj", {"Food": "synonym form"}),
        ("increased/VBD/0/root aid/NN/1/obj", "decreased/VBD/0/root aid/NN/1/obj", {}),
        ("today/NN/2/obl sent/VBD/0/root", "sent/VBD/0/root today/NN/1/obl", {"today": "order"}),
        ("today/NN/2/_ sent/VBD/0/_", "sent/VBD/0/_ today/NN/1/_", {}),
        ("sends/VBZ/0/_ trucks/NN/1/_", "send/VBD/0/_ trucks/NN/1/_", {"trucks": "form"}),
    ],
)
def test_words_that_are_akin(summary: str, source: str, found: dict[str, str]) -> None:
    """Forms, spellings and synonyms by stem are related, words that look alike are not; with equal labels, order may differ."""
    assert reworded(summary, source) == found


def test_lemmas_tell_irregular_forms() -> None:
    """*gave* and *gives* have no stem in common; our synonyms know *give* only."""
    summary = Sentence(["gave", "food"], ["give", "food"], ["VERB", "NOUN"], heads=[0, 1])
    for form, way in (("gives", "form"), ("supplies", "synonym")):
        source = Sentence([form, "food"], [form[:-1], "food"], ["VERB", "NOUN"], heads=[0, 1])
        (claim,) = check([summary], [source], other_words=True).claims

        assert claim.found is not None
        assert claim.found.ways == (way,)


@pytest.mark.parametrize(("word", "follows"), [("skills/NNS/3/obj", True), ("houses/NNS/3/obj", False)])
def test_function_words_follow_their_verb(word: str, follows: bool) -> None:
    """*to* of another verb is support only if that verb has a content word in common, too."""
    summary = "want/VBP/0/root to/TO/3/mark try/VB/1/xcomp skills/NNS/3/obj"
    source = f"plan/VBP/0/root to/TO/3/mark attempts/VB/1/xcomp {word}"

    assert ("to" in reworded(summary, source)) is follows


def test_wordnet_counts_in_its_part_of_speech(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs of one synset are synonyms; only the first senses of a word count."""
    senses = " ".join(f"{number:08d}" for number in range(1, 12))
    for name in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"{name}.exc").write_text("")
        (tmp_path / f"data.{name}").write_text("")
        (tmp_path / f"index.{name}").write_text("")
    (tmp_path / "index.verb").write_text(
        f"zig v 11 0 11 0 {senses}\nzag v 1 0 1 0 00000010\nzog v 1 0 1 0 00000011\n"
    )
    monkeypatch.setattr(check_module, "find_wordnet", lambda: tmp_path)
    relation = "{}/VB/0/root food/NN/1/obj"

    assert reworded(relation.format("zig"), relation.format("zag")) == {"food": "synonym"}
    assert reworded(relation.format("zig"), relation.format("zog")) == {}
    assert reworded(relation.format("zig").replace("VB", "MD"), relation.format("zag")) == {}


def _three_ways() -> SupportCheck:
    """Return a check with a relation in the same words, one in other words, and one without support."""
    summary = "workers/NNS/2/nsubj sent/VBD/0/root truck/NN/2/obj blankets/NNS/2/obj"
    return check([tree(summary)], [tree(ACTIVE["UD"])], other_words=True)


def test_a_table_tells_other_words_from_none() -> None:
    """The table has columns for other words only if these were searched."""
    found = _three_ways()
    table = found.table()
    rows = table.to_pylist()

    assert [row["words"] for row in rows] == ["same", "other", ""]
    assert (rows[1]["found"], rows[1]["differs"], rows[1]["source"]) == ("sent trucks", "form", "1")
    assert rows[1]["why"] == ""
    assert rows[2]["why"] == "not in the source: blankets"
    assert found.figures()[0].endswith(
        "2 of 3 verb arguments have support in the source, 1 of them in other words"
    )
    plain = check(found.summary, found.source)
    assert plain.table().columns == table.columns[:-3]
    assert plain.supported == 1


def test_a_word_is_not_in_the_source_if_none_is_akin() -> None:
    """*truck* is in the source as *trucks*, but not with that verb."""
    summary = tree("sent/VBD/0/root truck/NN/1/obj")
    source = [tree("trucks/NNS/2/nsubj came/VBD/0/root"), tree("they/PRP/2/nsubj sent/VBD/0/root")]

    assert check([summary], source).claims[0].why == "not in the source: truck"
    assert check([summary], source, other_words=True).claims[0].why == "not related in the source"


def test_the_page_marks_other_words_apart() -> None:
    """Relations in other words are numbered with those without support, and link to the source."""
    html = page(_three_ways(), summary="s", source="t")

    assert '<mark class="other">truck<sup>1</sup></mark>' in html
    assert "<mark>blankets<sup>2</sup></mark>" in html
    assert '<mark class="verb">sent<sup>1,2</sup></mark>' in html
    assert re.search(r'in other words: <bdi>sent … trucks</bdi> \(form\); source <a href="#source-1">', html)
