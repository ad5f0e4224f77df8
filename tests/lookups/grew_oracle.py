"""An independent matcher of Grew requests: every assignment of nodes is tried, over lists of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sentgen.lookups.base.attributes import Value
from sentgen.lookups.grew import syntax

ANCHOR = {"form": "__0__"}


@dataclass(frozen=True, repr=False)
class Tree:
    """A sentence: the features, the head and the relation of each position; 0 is the anchor."""

    features: Sequence[Mapping[str, str]]
    heads: Mapping[int, int]
    labels: Mapping[int, str]
    enhanced: frozenset[tuple[int, str, int]] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def positions(self) -> range:
        return range(len(self.features))


@dataclass(frozen=True)
class Found:
    """A match: the positions of named nodes; source, relation and target of named edges."""

    nodes: Mapping[str, int]
    edges: Mapping[str, tuple[int, str, int]]


def hits(request: syntax.GrewRequest, tree: Tree) -> Iterator[Found]:
    """Yield the matches of a request in a sentence."""
    if not all(_structure(tree, name) for name in request.structures):
        return
    if not all(_feature(one, tree.metadata.get(one.key)) for one in request.metadata):
        return
    for found in _matches(request.clauses, tree, Found({}, {}), frozenset()):
        free = _free(request.clauses)
        if all(any(_matches(one.clauses, tree, found, free)) != one.negated for one in request.filters):
            yield found


def _free(clauses: Sequence[syntax.Clause]) -> frozenset[str]:
    return frozenset(one.name for one in clauses if isinstance(one, syntax.Node) and one.free)


def _matches(
    clauses: Sequence[syntax.Clause], tree: Tree, outer: Found, outer_free: frozenset[str]
) -> Iterator[Found]:
    names: dict[str, None] = {}
    for one in clauses:
        if isinstance(one, syntax.Node):
            names[one.name] = None
        elif isinstance(one, syntax.GrewEdge | syntax.Dominance):
            names |= dict.fromkeys(name for name in (one.source, one.target) if name)
    own = [name for name in names if name not in outer.nodes]
    free = outer_free | _free(clauses)
    for places in product(tree.positions, repeat=len(own)):
        nodes = {**outer.nodes, **dict(zip(own, places, strict=True))}
        bound = [place for name, place in nodes.items() if name not in free]
        clash = any(nodes[a] == nodes[b] for a in own for b in nodes if a != b and not {a, b} & free)
        assert clash or len(set(bound)) == len(bound)
        if clash or not all(_described(one, tree, nodes) for one in clauses):
            continue
        for edges in _edges(clauses, tree, nodes):
            found = Found(nodes, {**outer.edges, **edges})
            if all(_related(one, tree, found) for one in clauses):
                yield found


def _described(one: syntax.Clause, tree: Tree, nodes: Mapping[str, int]) -> bool:
    if not isinstance(one, syntax.Node) or not one.descriptions:
        return True
    features = tree.features[nodes[one.name]]
    return any(all(_feature(each, features.get(each.key)) for each in every) for every in one.descriptions)


def _edges(
    clauses: Sequence[syntax.Clause], tree: Tree, nodes: Mapping[str, int]
) -> Iterator[dict[str, tuple[int, str, int]]]:
    """Yield the assignments of named edges; none if an edge without a name is missing."""
    named: list[list[tuple[str, tuple[int, str, int]]]] = []
    for one in clauses:
        if not isinstance(one, syntax.GrewEdge):
            continue
        basic = {(head, tree.labels[place], place) for place, head in tree.heads.items()}
        fitting = [
            edge
            for edge in sorted(tree.enhanced if one.label.enhanced else basic)
            if (one.source is None or nodes[one.source] == edge[0])
            and (one.target is None or nodes[one.target] == edge[2])
            and _label(one.label, edge[1])
        ]
        if not fitting:
            return
        if one.name:
            named.append([(one.name, edge) for edge in fitting])
    for chosen in product(*named):
        yield dict(chosen)


def _label(label: syntax.Label, text: str) -> bool:
    if label.parts:
        parts = _parts(text)
        return all(_feature(one, parts.get(one.key)) for one in label.parts)
    return not label.values or _among(label.values, text) != label.negated


def _parts(text: str) -> dict[str, str]:
    stem, _, deep = text.partition("@")
    parts = {str(number): part for number, part in enumerate(stem.split(":"), 1)}
    return {**parts, "deep": deep} if deep else parts


def _feature(one: syntax.FeatureCondition, value: str | None) -> bool:
    if one.relation is syntax.FeatureRelation.PRESENT:
        return value is not None
    if one.relation is syntax.FeatureRelation.ABSENT:
        return value is None
    return value is not None and _among(one.values, value) == (one.relation is syntax.FeatureRelation.IS)


def _among(values: Sequence[Value], text: str) -> bool:
    for one in values:
        flags = re.IGNORECASE if one.ignore_case else 0
        patterns = one.texts if one.regex else map(re.escape, one.texts)
        if any(re.fullmatch(pattern, text, flags) for pattern in patterns):
            return True
    return False


def _related(one: syntax.Clause, tree: Tree, found: Found) -> bool:
    if isinstance(one, syntax.Dominance):
        place, above = found.nodes[one.target], found.nodes[one.source]
        while place in tree.heads:
            place = tree.heads[place]
            if place == above:
                return True
        return False
    if isinstance(one, syntax.LinearOrder):
        return _order(one, found)
    if isinstance(one, syntax.GrewComparison):
        return _comparison(one, tree, found)
    return True


def _order(one: syntax.LinearOrder, found: Found) -> bool:
    left, right = (found.nodes.get(name, found.edges.get(name)) for name in (one.left, one.right))
    if isinstance(left, int) and isinstance(right, int):
        return left + 1 == right if one.operator == "<" else left < right
    assert isinstance(right, tuple)
    start, end = sorted((right[0], right[2]))
    if isinstance(left, int):
        return start < left < end
    assert isinstance(left, tuple)
    low, high = sorted((left[0], left[2]))
    return {
        "<<": start <= low and high <= end,
        "<>": high <= start or end <= low,
        "><": low < start < high < end or start < low < end < high,
    }[one.operator]


def _comparison(one: syntax.GrewComparison, tree: Tree, found: Found) -> bool:
    left = value(one.left, tree, found)
    if isinstance(one.right, tuple):
        same = left is not None and (not one.right or _among(one.right, str(left)))
        return same if one.operator == "=" else left is not None and not same
    right = value(one.right, tree, found) if isinstance(one.right, syntax.Reference) else one.right
    if isinstance(one.right, syntax.Reference) and one.operator in ("=", "<>"):
        return None not in (left, right) and (left == right) == (one.operator == "=")
    try:
        a, b = float(left), float(right)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return {"=": a == b, "<>": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[one.operator]


def value(of: syntax.Reference | syntax.Distance, tree: Tree, found: Found) -> Any:
    """Return the value of a reference, ``None`` if it has none."""
    if isinstance(of, syntax.Distance):
        far = found.nodes[of.right] - found.nodes[of.left]
        return far if of.function == "delta" else abs(far)
    if of.name in found.nodes:
        place = found.nodes[of.name]
        return place if of.key == "__id__" else tree.features[place].get(of.key)
    source, label, target = found.edges[of.name]
    known = {"label": label, "delta": target - source, "length": abs(target - source), **_parts(label)}
    return known.get(of.key)


def _structure(tree: Tree, name: str) -> bool:
    spans = [sorted((place, head)) for place, head in tree.heads.items()]
    crossing = any(a < c < b < d for a, b in spans for c, d in spans)
    # Trees of the store have a head for each token, and no cycles.
    holds = {"projective": not crossing, "tree": True, "forest": True, "cyclic": False}
    stem = name.removeprefix("is_").removeprefix("not_")
    return holds[stem] != name.startswith("is_not_")
