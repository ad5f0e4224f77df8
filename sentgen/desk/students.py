"""The students who joined a class, and their names, which must not look like each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from sqlalchemy import Update, insert, select, update

from sentgen.desk.desk import Desk, desk_of
from sentgen.desk.tables import student
from sentgen.errors import InputError, printable

#: Characters of a name.
LONGEST_NAME = 40
#: The same before normalization, where a letter may be several characters.
_LONGEST_WRITTEN = 4 * LONGEST_NAME
#: Replaces the hash of the token of a released name.
_FREE = ""
#: Maximal number of names of a class, since anyone who reaches the server can invent names.
MOST_STUDENTS = 200
#: Letters of other scripts with the Latin one that they look like, most as capitals; and of other shapes.
_ALIKE = str.maketrans(
    "аеіјорсухһԁԛԝѕкмтвнѵӏαεηικμνορτυχζβγօսհոցⲟⲣⲥɑɡıȷɩ0ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᏀᏃᏒᏔᏕᏙᏚᏞᏟᏢᏦᏴ",
    "aeijopcyxhdqwskmtbhvlaehikmnoptyxzbyouhngopcagijiobpdtgkjczfmnlsrvhwxyaeioudrtiyajewmhgzrwsvslcpkb",
)
#: Scripts that names mix.
_TOGETHER = frozenset({"HIRAGANA", "KATAKANA", "CJK", "HANGUL", "BOPOMOFO"})


def check_student(text: str) -> str:
    """Return a name as it is shown: in one writing of its letters, without blanks around it.

    Raises:
        InputError: the text is no name.
    """
    # The length is checked first: sorting marks takes quadratic time, during which the server does not
    # answer.
    known = text if len(text) <= _LONGEST_WRITTEN else ""
    name = " ".join(unicodedata.normalize("NFKC", known).split())
    kinds = [unicodedata.category(letter)[0] for letter in name]
    # C are controls, what is not seen, and what stands for nothing; M are marks, which can be piled up.
    strange = "C" in kinds or printable(name) != name or kinds.count("M") > kinds.count("L")
    if strange or len(name) > LONGEST_NAME or not {*kinds} & {*"LN"}:
        raise InputError(
            f"{printable(text[:LONGEST_NAME])!r} is no name; take one of letters, at most {LONGEST_NAME}"
        )
    scripts = {script for letter in name if letter.isalpha() if (script := _script(letter))}
    if len(scripts) > 1 and not scripts <= _TOGETHER:
        raise InputError("the letters of this name are of several scripts; take one with letters of one")
    return name


def looks_of(name: str) -> frozenset[str]:
    """Return normal forms of a name: names that look alike share at least one of them.

    >>> [bool(looks_of(name) & looks_of("Paul Ito")) for name in ("PÁUL ito", "PauI lto", "Paul Lto")]
    [True, True, False]
    """
    seen = re.sub(r"(?<=[a-z])[I|1](?![A-Z])", "l", re.sub(r"\b[l|1](?=[^\W\d])", "I", name))
    return frozenset((_plain(name), _plain(seen)))


def _plain(name: str) -> str:
    text = unicodedata.normalize("NFKD", name.casefold())
    # Accents have a combining class; vowel signs of Indian scripts have class 0.
    allowed = (letter for letter in text if unicodedata.category(letter)[0] in "LNM")
    letters = (letter for letter in allowed if not unicodedata.combining(letter) and _script(letter))
    return "".join(letters).translate(_ALIKE)


def students_of(desk: Desk) -> Mapping[str, str]:
    """Return the students of a class by the hashes of their tokens."""
    with desk.reading() as connection:
        query = select(student.c.name, student.c.token).where(student.c.token != _FREE)
        return {token: name for name, token in connection.execute(query)}


def add_student(desk: Desk, name: str, token: str, *, idle: Sequence[str] = ()) -> str:
    """Record a student who joined; return the name, in its earlier spelling if it was released before.

    Args:
        desk: desk of the class.
        name: as `check_student` returns it.
        token: hash of the student's token.
        idle: names of which the first is released if there are too many.

    Raises:
        InputError: the name, or one that looks like it, is taken; or there are too many names; or the file of
            its desk exists and belongs to another class.
    """
    with desk.writing() as connection:
        known = connection.execute(select(student)).all()
        alike = [each for each in known if looks_of(name) & looks_of(each.name)]
        if any(each.token != _FREE for each in alike):
            raise InputError(
                f"{name} is here already; if that is you, ask your teacher to let you in again, else add a"
                " letter of your last name"
            )
        if sum(each.token != _FREE for each in known) >= MOST_STUDENTS:
            if not idle:
                raise InputError(f"{MOST_STUDENTS} names are in use, which is the most; ask your teacher")
            connection.execute(_let_go(idle[:1]))
        if alike:
            before = next((each.name for each in alike if each.name == name), alike[0].name)
            connection.execute(update(student).where(student.c.name == before).values(token=token))
            return str(before)
        path = desk_of(desk.path, [name])
        if path and path.exists():  # such as 1b-a.desk, which another class may have
            raise InputError(f"there are line sets of somebody else by the name {name}; add a letter to it")
        connection.execute(insert(student).values(name=name, token=token))
        return name


def remove_students(desk: Desk, names: Sequence[str]) -> None:
    """Release names for other students; the sets that the students made are kept, as of the class."""
    with desk.writing() as connection:
        connection.execute(_let_go(names))


def _let_go(names: Sequence[str]) -> Update:
    return update(student).where(student.c.name.in_(names)).values(token=_FREE)


def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its Unicode name; empty if several scripts use it.

    >>> _script("a"), _script("ー"), _script("々"), _script("ʻ")
    ('LATIN', 'KATAKANA', 'CJK', '')
    """
    first = unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]
    return {"IDEOGRAPHIC": "CJK", "MODIFIER": ""}.get(first, first)
