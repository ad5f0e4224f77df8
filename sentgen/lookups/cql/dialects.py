"""How a query in CQL is read: its dialect, which matches are hits, and whether they may cross sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from sentgen.errors import QueryError, spell
from sentgen.options import Option


class Strategy(StrEnum):
    """Which of the spans that match a CQL query are its hits."""

    ALL = "all"
    LONGEST = "longest"
    SHORTEST = "shortest"
    STANDARD = "standard"
    TRADITIONAL = "traditional"


class Dialect(StrEnum):
    """Whose CQL a query is."""

    SENTGEN = "sentgen"
    CQP = "cqp"
    BLACKLAB = "blacklab"

    def grammar(self, grammar: str) -> str:
        """Return the grammar of a dialect, from that of sentgen."""
        for old, new in {Dialect.CQP: _CQP, Dialect.BLACKLAB: _BLACKLAB}.get(self, ()):
            assert old in grammar, old
            grammar = grammar.replace(old, new)
        return grammar

    def check_known(self, text: str) -> None:
        """Refuse syntax of a dialect that sentgen does not support.

        Raises:
            QueryError: the query has such syntax; the error says where, and what to write instead.
        """
        # Strings are replaced by strings of the same length, so that offsets stay valid.
        bare = _STRING.sub(lambda match: match[0][0] + "_" * (len(match[0]) - 2) + match[0][-1], text)
        for sign, instead in _UNKNOWN.get(self, ()):
            if match := re.search(sign, bare):
                start = match.start() + len(match[0]) - len(match[0].lstrip())
                what = " ".join(text[start : match.end()].split())
                cure = instead.format(strategy=spell("strategy"), limit=spell("limit"))
                raise QueryError(f"{what} is not known here; {cure}", query=text, offset=start)


#: The strategies of the dialects, unless another is named.
_STRATEGIES = {
    Dialect.SENTGEN: Strategy.ALL,
    Dialect.CQP: Strategy.STANDARD,
    Dialect.BLACKLAB: Strategy.ALL,
}
StrategyOption = Annotated[
    Strategy | None,
    Option(
        "Which matches of a CQL query to keep: all unless given, but those of CQP (standard) in its dialect."
    ),
]
DialectOption = Annotated[
    Dialect,
    Option("Read a query as CWB (cqp) or BlackLab does, which goes over the ends of sentences."),
]
AcrossOption = Annotated[
    bool,
    Option("Let matches, windows and contexts run over the ends of sentences, inside a document."),
]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a query is read.

    Args:
        dialect: whose CQL it is.
        strategy: which matches are hits; None for the strategy of the dialect.
        across: whether matches may cross the ends of sentences, as they always may in other dialects.
    """

    dialect: Dialect = Dialect.SENTGEN
    strategy: Strategy | None = None
    across: bool = False

    def hits_of(self, text: str) -> Strategy:
        """Return the strategy for a query; in CQP a query may name it, as ``(?longest)``."""
        modifier = _MODIFIER.match(text) if self.dialect is Dialect.CQP else None
        return Strategy(modifier[1]) if modifier else self.strategy or _STRATEGIES[self.dialect]

    @property
    def reaches(self) -> bool:
        """Whether matches may cross the ends of sentences."""
        return self.across or self.dialect is not Dialect.SENTGEN


AS_USUAL = Reading()

#: Replacements in the grammar of sentgen that give those of other dialects.
_BLACKLAB = (
    # `within` and `containing` bind to the right, and `&` no closer than `|`.
    ('"within" scope           -> within\n', '"within" followed        -> within\n'),
    (
        '| filtered "containing" alternatives -> containing\n',
        '| alternatives "containing" filtered -> containing\n',
    ),
    (
        "?filtered: alternatives\n    | filtered",
        "?followed: filtered\n    | NAME -> region\n?filtered: alternatives\n    | alternatives",
    ),
    (
        '?alternatives: both\n    | both ("|" both)+\n?both: sequence\n    | both "&" sequence\n',
        '?alternatives: sequence\n    | alternatives "|" sequence\n    | alternatives "&" sequence -> both\n',
    ),
    (
        '?either: every\n    | every ("|" every)+\n?every: negated\n    | negated ("&" negated)+\n',
        '?either: negated\n    | either "|" negated\n    | either "&" negated -> every\n',
    ),
    (
        '    | "@" atom                          -> target\n',
        '    | "@" atom                          -> target\n    | "!" atom -> not_token\n    | "_" -> gap\n',
    ),
    ("value: STRING FLAGS?\n", "value: (STRING | LITERAL) FLAGS?\n"),
    ("NUMBER:", "LITERAL.2: /l(\"(\\\\.|[^\"\\\\])*\"|'(\\\\.|[^'\\\\])*')/\nNUMBER:"),
)
_CQP = (("%ignore COMMENT", "MODIFIER.2: /\\(\\?[a-z]+\\)/\n%ignore MODIFIER\n%ignore COMMENT"),)


_MODIFIER = re.compile(rf"\s*\(\?({'|'.join(Strategy)})\)")
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#[^\n]*")
#: Syntax of the dialects, outside of quotes, that sentgen does not support, with what to write instead.
_COMMANDS = (
    "cat|count|cut|define|delete|discard|dump|exec|exit|group|info|join|difference|intersection|randomize|reduce"
    "|save|set|show|size|sort|source|subset|tabulate|undump|unlock"
)
_UNKNOWN = {
    Dialect.CQP: (
        (r"set\s+(?:MatchingStrategy|ms)\b", "write {strategy} longest, or (?longest) before the query"),
        (r"set\s+\w*Context\b", "write a context as an option: 10, 2s or 1p"),
        (
            rf"(?:^|(?<=;))\s*(?:{_COMMANDS})\b",
            "write one query, and what is to be done with it as options",
        ),
        (r"^\s*[A-Z]\w*\s*=", "keep a question with: sentgen save"),
        (r"(?<!<)/\w+\s*\[", "write out what the macro stands for"),
        (r"<<", "write <s/> for a whole region"),
        (r"\[:", "write the condition in the token, or a label and :: behind the pattern"),
        (r"\$\w+|\bRE\s*\(", 'write words as alternatives, such as "Monday|Tuesday"'),
        (
            r"\b(?:int|[lr]bound(?:_of)?|unify|ambiguity|add|sub|mul|prefix|is_prefix|minus"
            r"|ignore|normalize|strlen)\s*\(",
            "the functions here are distance, distabs and f",
        ),
        (r"\b(?:contains|matches)\b(?=\s*[\"'])", 'write a regular expression, such as ".*\\|Zeuge\\|.*"'),
        (r"@\d", "write a label, such as a:[], instead of a numbered target"),
        (r"\bcut\s+\d+", "write {limit} instead of cut"),
        (r"\bwithin\s+\d+", "write within s, or a gap such as []{{0,5}}"),
        (r":[A-Z][A-Z0-9_-]+\b(?!:)", "ask one corpus at a time"),
        (r"(?<=[\])])\s*!\s*;?\s*$", "write the pattern of the whole region with containing"),
    ),
    Dialect.BLACKLAB: (
        (r"\^?(?:--?|==?)[^\s\[\]]{0,100}>", "ask for relations with: sentgen match"),
        (r"\(\?<?[=!]", "write the condition in the token itself"),
        (r"\b[A-Za-z]\w*\s*\((?<!within\()(?<!containing\()", "write what the function finds as a pattern"),
        (r"\b(?:overlap|intersecting)\b", "write within or containing"),
    ),
}
