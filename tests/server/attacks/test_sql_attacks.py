"""SQL that tries to write, to read other files than the store, or to run forever."""

from __future__ import annotations

import pytest
from fort import CANARY, Fort, require_clean, require_problem
from sql_attacks import ATTACKS


@pytest.mark.nightly(by_day=43)
@pytest.mark.parametrize("attack", ATTACKS)
def test_sql_attack_is_refused(fort: Fort, attack: str) -> None:
    """The query is refused in one line, before DuckDB runs anything."""
    problem = require_problem(fort.ask(attack.format(file=fort.store, folder=fort.folder)), 400)

    assert problem["type"] == "urn:sentgen:problem:query-rejected"


#: Queries that pass the guard, and want more than there is. Some are answered, cut short; some fail by themselves;
#: from the others the deadline or the limit of memory saves the server.
BOMBS = {
    "rows": "select * from range(1000000000000)",
    "count": "select count(*) from range(1000000000000)",
    "series": "select count(*) from generate_series(0, 9223372036854775807, 1)",
    "dates": "select * from generate_series(timestamp '1000-01-01', timestamp '9000-01-01', interval 1 microsecond)",
    "repeated rows": "select * from repeat_row(1, 2, num_rows = 1000000000000)",
    "unnest": "select unnest(range(100000000))",
    "list": "select range(1000000000)",
    "list of a product": "select list(a.form) from v_tokens a, v_tokens b, range(100)",
    "list of lists": "select list_transform(range(100000), lambda x: list_transform(range(100000), lambda y: x * y))",
    "endless recursion": "with recursive r(i) as (select 1 union all select i + 1 from r) select count(*) from r",
    "doubling rows": "with recursive r(i) as (select 1 union all select a.i from r a, r b) select count(*) from r",
    "doubling text": "with recursive r(i) as (select 'x' union all select i || i from r) select max(i) from r",
    "cross join": "select count(*) from v_tokens a, v_tokens b, v_tokens c, v_tokens d",
    "cross join of rows": "select * from v_tokens a, v_tokens b",
    "levenshtein": "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "damerau": "select damerau_levenshtein(repeat('a', 100000), repeat('b', 100000))",
    "jaro": "select jaro_similarity(repeat('a', 10000000), repeat('b', 10000000))",
    "regular expression": "select regexp_matches(repeat('a', 1000000), '(a*)*b')",
    "repetitions": "select regexp_matches('a', '((((a{1,100}){1,100}){1,100}){1,100}){1,100}')",
    "parentheses in one": "select regexp_matches('a', repeat('(', 100000))",
    "repeat": "select repeat('x', 4000000000)",
    "repeat twice": "select repeat(repeat('x', 100000), 100000)",
    "one large cell": "select repeat('x', 20000000)",
    "replace": "select length(regexp_replace(repeat('a', 100000000), 'a', 'bbbbbbbbbb', 'g'))",
    "printf": "select printf('%2000000000d', 1)",
    "format": "select format('{:2000000000d}', 1)",
    "lpad": "select lpad('x', 2147483647, 'y')",
    "list_aggregate": "select list_aggregate(range(50000000), 'string_agg', ',')",
    "histogram": "select histogram(i) from range(10000000) t(i)",
    "windows": "select sum(a.range) over (order by b.range rows between 1000000 preceding and 1000000 following)"
    " from range(100000) a, range(100) b",
    "cube": f"select 1 from word group by cube ({', '.join(f'id + {i}' for i in range(15))})",
    "too many cubes": f"select 1 from word group by cube ({', '.join(f'id + {i}' for i in range(60))})",
    "doubling queries": "with a0 as (select 1), "
    + ", ".join(f"a{i} as (select * from a{i - 1} union all select * from a{i - 1})" for i in range(1, 60))
    + " select count(*) from a59",
    "columns": f"select {', '.join('1' * 6_000)}",
    "unions": f"select 1{' union all select 1' * 1_000}",
    "joins": f"select count(*) from range(3) t0{''.join(f', range(3) t{i}' for i in range(1, 400))}",
    "parentheses": f"select {'(' * 9_000}1{')' * 9_000}",
    "brackets": f"select {'[' * 9_000}1{']' * 9_000}",
    "not": f"select {'not ' * 4_500}true",
    "additions": f"select {'+'.join('1' * 9_000)}",
    "functions": f"select {'abs(' * 900}1{')' * 900}",
    "cases": f"select {'case when true then ' * 300}1{' end' * 300}",
    "subqueries": f"select * from {'(select * from ' * 900}word{')' * 900}",
    "a long name": f"select {'x' * 19_900}",
    "a long error": "select error(repeat('x', 10000000))",
    "a terminal": "select error(chr(27) || '[2J' || chr(10) || 'forged')",
    "json": "select json(repeat('[', 5000000))",
    "json structure": "select json_structure(repeat('[', 5000000))",
    "factorial": "select factorial(2147483647)",
    "reservoir": "select reservoir_quantile(i, 0.5, 2000000000) from range(1000000) t(i)",
    "reservoirs": "select i % 7, reservoir_quantile(i, [0.1, 0.9], 500000000) from range(1000) t(i) group by all",
}


#: One of each kind: it is cut, fails, takes all memory, or runs until the deadline.
BY_DAY = {
    *("rows", "list", "endless recursion", "cross join of rows", "repetitions", "repeat", "one large cell"),
    *("too many cubes", "columns", "parentheses", "subqueries", "a terminal", "json", "reservoir"),
}


@pytest.mark.parametrize(
    "bomb",
    [pytest.param(one, marks=[pytest.mark.nightly] * (name not in BY_DAY)) for name, one in BOMBS.items()],
    ids=BOMBS,
)
def test_resource_bomb(fort: Fort, bomb: str) -> None:
    """It is answered in bounds, or fails by itself, or is ended; and the server is as it was."""
    response = fort.sql(bomb)

    if response.status_code == 200:
        require_clean(response)
        assert len(response.content) <= 17 * 2**20
        assert len(response.json()["rows"]) <= 1000
    else:
        require_problem(response, 400, 413, 503, 504)
    fort.check_all()


@pytest.mark.parametrize(
    "query",
    [
        f"select '{'x' * 20_000}'",
        "select 1 -- " + "é" * 10_000,
        "select " + " " * 19_999 + "1",
    ],
)
def test_long_queries_are_refused(fort: Fort, query: str) -> None:
    """20,000 bytes are the most, not characters."""
    require_problem(fort.ask(query), 400, 422)


#: Values that JSON, CSV, Parquet or Arrow do not have.
VALUES = """
'nan'::double, 'inf'::double, '-inf'::float
date 'infinity', timestamp '-infinity'
date '5877642-06-25 (BC)', date '5881580-07-10'
make_date(-4000, 1, 1), make_timestamp(294246, 12, 31, 23, 59, 59.999999)
'2020-01-01 00:00:00.123456789'::timestamp_ns
time '24:00:00', '12:00:00+15:59'::timetz, timestamptz '2020-01-01 00:00:00+00'
interval '1000000000 months', to_years(-100000000)
170141183460469231731687303715884105727::hugeint, -170141183460469231731687303715884105728::hugeint
99999999999999999999999999999999999999::decimal(38, 0), 1e-38::decimal(38, 38)
'\\x00\\xff'::blob, '101'::bit, uuid '12345678-1234-1234-1234-123456789012'
map {'a': 1}, map {1: 'x'}, map {[1]: {'a': 1}}
{'a': {'b': [1, 2]}}, [null], []
'a'::enum('a', 'b'), [1, 2, 3]::integer[3]
1::union(number integer, text varchar)
'{"a": 1}'::json, 'null'::json, '"\\ud800"'::json
chr(0), chr(1114111), chr(8238), chr(65279), chr(8232)
1 as "a", 2 as "a", 3 as "A", 4 as "<script>", 5 as "a""b", 6 as "=1+1"
-0.0::double, 5e-324, 1.7976931348623157e308
null, null::integer[], null::struct(a integer)
""".strip().splitlines()


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize("values", VALUES)
def test_odd_values(fort: Fort, values: str, form: str) -> None:
    """They are written, or refused in one line."""
    response = fort.ask(f"select {values}", format=form)

    if response.status_code == 200:
        require_clean(response)
        if form == "json":
            assert len(response.json()["rows"]) == 1
    else:
        require_problem(response, 400)


@pytest.mark.parametrize(
    "value",
    ["'; drop table word; --", "' or true --", CANARY[:3], "\\", "\x00", "💥", "\u202e", 2**63, 1e308, -0.0],
)
def test_values_are_bound(fort: Fort, value: object) -> None:
    """What is given as a parameter stays a value."""
    response = fort.ask("select ? is not null as given", value)

    assert response.json()["rows"] == [{"given": True}]
