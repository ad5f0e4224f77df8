"""Round trips of forms through bags: in each notation, forms are unchanged or refused."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentgen.corpus.sentence import RESERVED
from sentgen.generation import shuffled
from sentgen.generation.bags.bag import STANDARD_TAGS
from sentgen.generation.bags.bag_reader import Bag, Notation

TAGS = st.sampled_from(sorted(STANDARD_TAGS))
#: Without backslashes, which escape in bags; JSON takes them.
PLAIN = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters="\\") | st.sampled_from("/[]_.,"),
    min_size=1,
    max_size=4,
)
#: Half of them with a slash and a tag at the end, known or not.
FORMS = st.one_of(PLAIN, st.builds("{}/{}".format, PLAIN, TAGS | PLAIN)).filter(
    lambda form: form not in RESERVED
)
BAGS = st.lists(st.tuples(FORMS, TAGS), min_size=1, max_size=6)


def escaped(form: str) -> str:
    """Return a form in bag notation, in a phrase or alone."""
    return form.replace("[", r"\[").replace("]", r"\]").replace("*", r"\*")


def forms_of(bag: Bag) -> Counter[str]:
    """Return the words of a bag, after its shuffle."""
    return Counter(word for unit in shuffled(bag.units, 1) for word in unit.words)


@given(BAGS)
def test_words_in_a_line(bag: list[tuple[str, str]]) -> None:
    """Words in a line, escaped or in a phrase, give their forms, with `tagged` forms and known tags."""
    forms = [form for form, _ in bag]
    line = " ".join(map(escaped, forms))
    for text in (line, f"[{line}]"):
        read = Notation().bag(text)
        if read.tagged:
            words = (
                (word, tag) for unit in read.units for word, tag in zip(unit.words, unit.tags, strict=True)
            )
            assert [f"{word}/{tag}" for word, tag in words] == forms
            assert {tag for unit in read.units for tag in unit.tags} <= STANDARD_TAGS
        else:
            assert forms_of(read) == Counter(forms)
        assert forms_of(Notation(tagged=False).bag(text)) == Counter(forms)
    assert forms_of(Notation().bag(line.replace("/", r"\/"))) == Counter(forms)


@given(BAGS)
def test_tagged_words_in_a_line(bag: list[tuple[str, str]]) -> None:
    """The last slash is the tag's, so that a word may have others."""
    read = Notation().bag(" ".join(f"{escaped(form)}/{tag}" for form, tag in bag))

    assert read.tagged
    assert [(unit.words[0], unit.tags[0]) for unit in read.units] == bag


@given(BAGS)
def test_a_joiner(bag: list[tuple[str, str]]) -> None:
    """A joiner separates words, and is the only character that is lost."""
    forms = [form for form, _ in bag]
    read = Notation(joiner="_", tagged=False).bag(" ".join(map(escaped, forms)))

    joined = Counter("_".join(unit.words) for unit in read.units)
    assert joined == Counter(forms)


@given(BAGS)
@settings(max_examples=10)
def test_files_and_pipes(tmp_path_factory: pytest.TempPathFactory, bag: list[tuple[str, str]]) -> None:
    """JSON, CoNLL-U and lines give the same forms from a file and from standard input."""
    forms, folder = Counter(form for form, _ in bag), tmp_path_factory.mktemp("bags")
    rows = [
        f"{n}\t{form}\t_\t_\t{tag}\t_\t{n - 1}\t{'dep' if n > 1 else 'root'}\t_\t_\n"
        for n, (form, tag) in enumerate(bag, 1)
    ]
    texts = {
        "json": json.dumps({"words": [form for form, _ in bag]}),
        "conllu": "".join(rows) + "\n",
        "bags": " ".join(f"{escaped(form)}/{tag}" for form, tag in bag) + "\n",
    }
    for form, text in texts.items():
        (Path(folder) / form).write_text(text, "utf-8")
        (read,) = Notation().read(str(folder / form), form)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            (piped,) = Notation().read("-", form)
        assert forms_of(read) == forms_of(piped) == forms
