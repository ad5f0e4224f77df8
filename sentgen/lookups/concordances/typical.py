"""Score hits by how good an example of the word they are, from the sentence of their first token.

After Kilgarriff, Husák, McAdam, Rundell and Rychlý 2008, "GDEX: Automatically finding good dictionary
examples in a corpus" (EURALEX). A hit has partial scores between 0 and 1, as the annotation permits, and ::

    score = whole * sum(weight * part) / sum(weight)

A sentence with the same tokens as a better one, in any case, has 0 instead, and is shown last.
``docs/lines.md`` has the formula of each part. Sums are those of integers or decimals, so that the order of
additions does not change a score. Hits with equal scores are sorted by the names of their documents, then in
the order of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sentgen.corpus.sentence import FINAL_MARKS
from sentgen.lookups.base.keys import StoreKeys
from sentgen.lookups.base.statement import Bindings
from sentgen.lookups.base.surprisals import SurprisalKey
from sentgen.schema.tables.corpus import BOS, EOS

SCORE, WHOLE = "score", "whole"
#: Weights of the parts; `WHOLE` has none, as it multiplies their sum.
WEIGHTS = {"size": 2, "words": 4, "plain": 3, "usual": 1, "frame": 1}
REASONS = {SCORE, WHOLE, *WEIGHTS}

#: The sentence and position of each hit, and the frequencies of lower-cased words in the corpora.
_PLACES = """\
spotted as materialized (
  select h.*, {home} as home, {position} as spot, {position} + h.last - h.first as until
  from {every} as h{at}
),
node as materialized (
  select *, count(*) over (partition by home) as hits
  from (select distinct home, spot, until from spotted)
),
met as materialized (
  select distinct home as id from node
),
counted as (
  select lower(w.form) as folded, sum(n.count)::bigint as count
  from ngram_1 as n
  join word as w on w.id = n.w1
  where n.w1 not in ({ends}){segments}
  group by folded
),
"""
_SEGMENTS = """
    and n.segment_id in (
      select id from segment where corpus_id in (select id from corpus where name in {corpora})
    )"""
#: Properties of the forms and features in the sentences with hits; ``common``, the frequency, in thousandths.
_FORMS = r"""form as materialized (
  select w.id, hash(lower(w.form)) as said,
    coalesce(
      round(1000 * least(1, greatest(0, log10(1e6 * c.count / (select sum(count) from counted))))), 0
    )::integer as common,
    not regexp_matches(w.form, '[\p{L}\p{N}]') as mark,
    w.form[1] != lower(w.form[1]) as capital,
    w.form[1] != upper(w.form[1]) as small,
    regexp_matches(w.form, '\p{N}|[@#_/\\=<>|~^*…]|\.\.|www\.')
      or (regexp_full_match(w.form, '[^\p{L}]{2,}') and not regexp_full_match(w.form, '-+|`+|''+'))
      or (length(w.form) > 1 and w.form = upper(w.form) and w.form != lower(w.form)) as odd,
    regexp_matches(w.form, '[FINAL_MARKS]$') as ends,
    regexp_full_match(w.form, '["“”„‟«»‹›‘’''`¿¡()\[\]{}（）「」『』【】《》]+') as wraps,
    length(translate(w.form, ')]}）」』】》', ''))
      - length(translate(w.form, '([{（「『【《', '')) as open,
    case when w.form in ('``', '''''') then 1
      else length(w.form) - length(translate(w.form, '"“”„‟«»', '')) end as quotes
  from (select distinct t.word_id as id from token as t semi join met on met.id = t.sentence_id) as u
  join word as w on w.id = u.id
  left join counted as c on c.folded = lower(w.form)
),
bundle as materialized (
  select id, not contains(name, 'VerbForm=') or contains(name, 'VerbForm=Fin') as finite,
    contains(name, 'PronType=Dem')
      or (contains(name, 'PronType=Prs') and contains(name, 'Person=3') and not contains(name, 'Reflex=Yes'))
      as points
  from tag
  where contains(name, '=')
),
""".replace("FINAL_MARKS", FINAL_MARKS)
#: ``said`` identifies the sequence of tokens. The hash of a form is mixed with its position before it is
#: hashed again: DuckDB combines the hashes of two values so that the order of tokens would not matter.
_SENTENCES = """\
told as materialized (
  select id, said, costs, every_word, least(1, size / 10, 25 / size) as size,
    coalesce(common / (1000 * every_word), 0) as words, ({checks}) / {number} as whole
  from (
    select t.sentence_id as id, bit_xor(hash(xor(f.said, hash(t.position)))) as said, count(*) as size,
      nullif(count(*) filter (where not f.mark), 0) as every_word,
      sum(f.common) filter (where not f.mark) as common,
      count(*) filter (where f.odd or {context}) as costs,
      not coalesce(arg_min(f.mark or f.small, t.position) filter (where not f.wraps), true)
        or any_value(t.corpus_id) in (select id from corpus where lowercase) as begins,
      coalesce(arg_max(f.ends, t.position) filter (where not f.wraps), false) as ends,
      sum(f.open) = 0 and sum(f.quotes) % 2 = 0 as closed{verb}
    from token as t
    join met on met.id = t.sentence_id
    join form as f on f.id = t.word_id
    left join bundle as b on b.id = t.feats_id
    group by t.sentence_id
  )
),
"""
_TAGGED = "t.{column} in (select id from tag where {name})"
_UPOS = _TAGGED.format(column="upos_id", name="name in ({names})")
#: Tokens that need a context: names, pronouns and demonstratives, conjunctions at the beginning; and tokens
#: that are no words.
_CONTEXT = (
    _UPOS.format(names="'PROPN', 'INTJ', 'SYM', 'X'")
    + "\n        or coalesce(b.points, "
    + _UPOS.format(names="'PRON'")
    + ")\n        or (t.position = 1 and "
    + _UPOS.format(names="'CCONJ'")
    + ")"
)
_CAPITAL = "(f.capital and t.position > 1)"
_FINITE = _UPOS.format(names="'VERB', 'AUX'") + " and coalesce(b.finite, true)"
_ANY_VERB = f",\n      coalesce(bool_or({_FINITE}), false) as verb"
#: Whether the root is a finite verb, or has one for its auxiliary or copula.
_ROOT_VERB = (
    f",\n      coalesce(bool_or(t.head = 0 and {_FINITE}), false)\n"
    f"        or coalesce(list_contains(list(t.head) filter (where {_FINITE} and "
    + _TAGGED.format(column="deprel_id", name="regexp_matches(name, '^(aux|cop)(:|$)')")
    + "), min(t.position) filter (where t.head = 0)), false) as verb"
)
#: The surprisal of the first token, and the mean surprisal of its sentence. Each scores 1 / (1 + z²), where z
#: is its distance from the median of all hits, in units of 1.4826 times the median distance, which is the
#: standard deviation of a normal distribution.
_USUAL = """\
surprised as materialized (
  select n.home, n.spot, n.until, own.bits, mean.bits as of_sentence
  from node as n
  join surprisal as own on own.model_id = {model} and own.sentence_id = n.home and own.position = n.spot
  join (
    select p.sentence_id, (sum(p.bits::decimal(18, 6)) / count(*))::double as bits
    from surprisal as p
    semi join met on met.id = p.sentence_id
    where p.model_id = {model}
    group by p.sentence_id
  ) as mean on mean.sentence_id = n.home
),
middle as (
  select median(bits) as bits, median(of_sentence) as of_sentence from surprised
),
spread as (
  select 1.4826 * median(abs(s.bits - m.bits)) as bits,
    1.4826 * median(abs(s.of_sentence - m.of_sentence)) as of_sentence
  from surprised as s
  cross join middle as m
),
usual as materialized (
  select home, spot, until, (1 / (1 + z * z) + 1 / (1 + z_of_sentence * z_of_sentence)) / 2 as usual
  from (
    select s.home, s.spot, s.until, coalesce((s.bits - m.bits) / nullif(d.bits, 0), 0) as z,
      coalesce((s.of_sentence - m.of_sentence) / nullif(d.of_sentence, 0), 0) as z_of_sentence
    from surprised as s
    cross join middle as m
    cross join spread as d
  )
),
"""
#: The relation of the node and those of its modifiers. A node of several tokens has the relation of the first
#: one whose head is outside of the node.
_FRAME = """\
governor as materialized (
  select n.home, n.spot, n.until, min(t.position) as position,
    arg_min_null(t.deprel_id, t.position) as deprel_id
  from node as n
  join token as t on t.sentence_id = n.home and t.position between n.spot and n.until
  where t.head not between n.spot and n.until
  group by n.home, n.spot, n.until
),
framed as (
  select g.home, g.spot, g.until, g.deprel_id,
    list(distinct d.deprel_id order by d.deprel_id) filter (where d.deprel_id not in (
      select id from tag where name = 'punct'
    )) as modifiers
  from governor as g
  left join token as d on d.sentence_id = g.home and d.head = g.position
  group by g.home, g.spot, g.until, g.deprel_id
),
frame as materialized (
  select home, spot, until, ln(1 + count) / ln(1 + max(count) over ()) as frame
  from (select *, count(*) over (partition by deprel_id, modifiers) as count from framed)
),
"""
_SCORED = """\
scored as materialized (
  select * exclude (said) replace (
      case when row_number() over (partition by said order by {score} desc, {ties}) = 1 then {score}
        else 0.0 end as {score}
    )
  from (
    select *, round(1000 * {whole} * (round(1000 * ({weighted})) / 1000) / ({weights})) / 1000 as {score}
    from (
      select s.* exclude (home, spot, until), t.said, document.name as in_document, {parts}
      from spotted as s
      join node as n using (home, spot, until)
      join told as t on t.id = s.home
      join sentence as home on home.id = s.home
      join document on document.id = home.document_id{joins}
    )
  )
),
"""
_PARTS = {
    WHOLE: "t.whole",
    "size": "t.size",
    "words": "t.words",
    "plain": "greatest(0, 1 - 2 * (t.costs + n.hits - 1) / t.every_word)",
    "usual": "usual",
    "frame": "frame",
}
_JOIN = "\n      left join {part} using (home, spot, until)"


@dataclass(frozen=True, slots=True)
class Typical:
    """The annotation of corpora from which good examples are scored.

    Args:
        corpora: corpora whose words are counted; none for all of the store.
        tags: whether tokens have parts of speech.
        trees: whether tokens have heads.
        surprisal: surprisal by the newest model that was applied; ``None`` if none was.
    """

    corpora: Sequence[str]
    tags: bool
    trees: bool
    surprisal: SurprisalKey | None

    @classmethod
    def of_store(cls, there: StoreKeys) -> Typical:
        """Look up the annotation from which a store's good examples are scored."""
        return cls(
            corpora=there.corpora,
            tags=there.any_token("upos_id"),
            trees=there.any_token("head"),
            surprisal=max(there.applied.keys.values(), key=lambda key: key.model, default=None),
        )

    @property
    def parts(self) -> list[str]:
        """The columns with the score and its parts."""
        there = {"usual": self.surprisal is not None, "frame": self.trees}
        return [SCORE, *(name for name in _PARTS if there.get(name, True))]

    @property
    def remarks(self) -> tuple[str, ...]:
        """A remark on annotation that is missing, if any is."""
        there = {"tags": self.tags, "trees": self.trees, "surprisal (models apply)": bool(self.surprisal)}
        lacking = [name for name, is_there in there.items() if not is_there]
        return (f"typical without {', '.join(lacking)}: these corpora have none",) if lacking else ()

    def scored_hits(
        self, every: str, at: str, home_and_position: tuple[str, str], bindings: Bindings, *, ties: str
    ) -> str:
        """Return the common table expressions up to ``scored``: all hits with their scores and documents.

        Args:
            every: the table of the hits ``h``.
            at: the join of hits with their positions in documents; empty if they are in sentences.
            home_and_position: the id of the sentence of a hit's first token, and its position there, in SQL.
            ties: the columns that order hits with equal scores.
        """
        home, position = home_and_position
        segments = ""
        if self.corpora:
            segments = _SEGMENTS.format(corpora=bindings.bind("corpora", list(self.corpora)))
        text = _PLACES.format(
            home=home, position=position, every=every, at=at, ends=f"{BOS}, {EOS}", segments=segments
        )
        text += _FORMS + self._sentences()
        if self.surprisal:
            text += _USUAL.format(model=bindings.bind("model", self.surprisal.model))
        if self.trees:
            text += _FRAME
        return text + self._weighted_score(ties)

    def _sentences(self) -> str:
        checks = ["begins", "ends", "closed", *(["verb"] if self.tags else [])]
        return _SENTENCES.format(
            checks=" + ".join(f"{check}::integer" for check in checks),
            number=len(checks),
            context=_CONTEXT if self.tags else _CAPITAL,
            verb="" if not self.tags else _ROOT_VERB if self.trees else _ANY_VERB,
        )

    def _weighted_score(self, ties: str) -> str:
        _, whole, *parts = self.parts
        joined = [name for name in ("usual", "frame") if name in parts]
        return _SCORED.format(
            score=SCORE,
            whole=whole,
            weighted=" + ".join(f"{WEIGHTS[name]} * coalesce({name}, 0)" for name in parts),
            weights=" + ".join(f"{WEIGHTS[name]} * ({name} is not null)::integer" for name in parts),
            # Not round(x, 3), which makes 0.346 of 0.3465 in DuckDB.
            parts=", ".join(f"round(1000 * ({_PARTS[name]})) / 1000 as {name}" for name in (whole, *parts)),
            joins="".join(_JOIN.format(part=name) for name in joined),
            ties=f"in_document, {ties}",
        )
