"""Words of TEI: what the attributes of `w` and `pc` say, and the links of ParlaMint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sentgen.corpus.readers._columns import FormatError
from sentgen.corpus.readers._flow import Word
from sentgen.corpus.readers._named_columns import bar_free
from sentgen.corpus.readers._xml import local, spaced
from sentgen.corpus.sentence import UNIVERSAL_TAGS, Sentence
from sentgen.corpus.written_names import name_written

#: Attributes that have a place of their own.
KNOWN = frozenset(["id", "lemma", "pos", "msd", "join", "norm"])
UNIVERSAL = "UPosTag="
DEPENDENCIES = "UD-SYN"
RELATION = "ud-syn:"


class WordMaker:
    """Makes words of attributes.

    A file whose `pos` are all of Universal Dependencies so far has universal tags; else they are its own.
    """

    def __init__(self) -> None:
        self.universal = True

    def of(self, attributes: Mapping[str, str], form: str) -> Word:
        """Return a word; what has no place of its own is in ``misc``."""
        said = {local(name): value for name, value in attributes.items()}
        word = Word(form, said.get("lemma", ""), id=said.get("id", ""))
        pos, msd, join = said.get("pos", ""), said.get("msd", ""), said.get("join", "")
        word.glued, word.tied = join in ("right", "both"), join in ("left", "both")
        if msd.startswith(UNIVERSAL):
            word.upos, _, word.feats = msd.removeprefix(UNIVERSAL).partition("|")
            word.xpos = pos
        else:
            self.universal = self.universal and (not pos or pos in UNIVERSAL_TAGS)
            if self.universal:
                word.upos = pos
            else:
                word.xpos = pos
            if "=" in msd:
                word.feats = msd
            elif msd and not word.xpos:
                word.xpos = msd
            elif msd:
                said["msd "] = msd
        more = {_key(name): bar_free(spaced(value)) for name, value in said.items() if name not in KNOWN}
        word.misc = "|".join(f"{key}={value}" for key, value in more.items())
        return word


def _key(name: str) -> str:
    """Return a key of MISC, in which neither bars nor equals signs can stand."""
    key = name_written(name.strip())
    return name if {"|", "="} & {*key} or key != key.strip() else key


def take_links(sentence: Sentence, words: Sequence[Word], links: Sequence[tuple[str, str]]) -> None:
    """Set heads and relations from links: what each says, and `#HEAD #DEPENDENT`.

    The head of a root is what is no word: its sentence.
    """
    if not links:
        return
    places = {word.id: place for place, word in enumerate(words, 1) if word.id}
    heads = [-1] * len(words)
    relations = ["_"] * len(words)
    for said, targets in links:
        names = [name.removeprefix("#") for name in targets.split()]
        if len(names) != 2 or names[1] not in places:
            raise FormatError(
                "head-range", f"a link to {targets[:40]!r}, which names no word of the sentence"
            )
        place = places[names[1]] - 1
        heads[place] = places.get(names[0], 0)
        relations[place] = said.removeprefix(RELATION).replace("_", ":")
    if -1 in heads:
        raise FormatError("head-range", f"no link says what token {heads.index(-1) + 1} depends on")
    sentence.heads, sentence.deprels = heads, relations
