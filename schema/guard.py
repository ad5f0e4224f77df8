"""Decide whether SQL from a stranger may run: one SELECT that reads known relations with known functions.

The decision is made on DuckDB's own syntax tree (``json_serialize_sql``) and fails closed: whatever is not
known to be harmless is refused, and so is whatever raises. It is one wall of several; see
`sentgen.schema.readonly`.

A name in a from clause must be that of a table or view of the dictionary, or of a CTE: DuckDB resolves other
names to its own views, which reveal the path of the store, or to files. A name counts as a CTE only where
DuckDB is certain to resolve it to that CTE. It has no schema; a WITH of the query that contains it, or of an
outer query, defines it; and it is not within that WITH before the end of the definition, with one exception:
the second half of a recursive union (not the first, nor a WITH before both) sees the CTE that it defines.
Names are compared as DuckDB compares them, ignoring the case of ASCII letters only: U+212A is no *k*.
`tests/schema/test_names_of_ctes.py` compares the result with DuckDB's binder.
"""

from __future__ import annotations

import json
import re
import string
from difflib import get_close_matches
from typing import cast

import duckdb

from sentgen.errors import QueryRejected
from sentgen.schema import dictionary
from sentgen.schema.engine import one_row

MAX_BYTES = 20_000
# `_visit` takes two or three frames a level: Python's own limit of 1,000 stays out of reach.
_MAX_DEPTH = 100
#: Characters of DuckDB's error messages that are shown at most.
_MAX_MESSAGE = 1_000
#: Errors about files, memory and DuckDB itself, not about the query; and the message shown instead.
_OF_THE_MACHINE = (
    duckdb.OperationalError,
    duckdb.InternalError,
    duckdb.FatalException,
    duckdb.PermissionException,
)
_UNTOLD = "the query cannot be answered here; write it in another way"
#: In a message of DuckDB: the class of the error; the ends of sentences; and advice that cannot be followed
#: here.
_CLASS = re.compile(r"^[A-Z][A-Za-z]+( [A-Z]?[a-z]+)* Error: ")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_ADVICE = re.compile(r"\b(SET|PRAGMA|INSTALL|LOAD)\b|https?://")

#: Functions that may be used as a table.
TABLE_FUNCTIONS = frozenset(["generate_series", "json_each", "range", "repeat_row", "unnest"])

#: Functions of values. None of them reads files, settings or the environment, writes, or sleeps.
FUNCTIONS = frozenset(
    """
    + - * / // % ** ^ & | << >> ~ @ ! || && = <> < > <= >= ^@ @> <@ <-> <=> -> ->> !__postfix ~~ !~~ ~~*
    !~~* ~~~ like_escape not_like_escape ilike_escape not_ilike_escape add subtract multiply divide mod
    abs acos acosh asin asinh atan atan2 atanh bit_count cbrt ceil ceiling cos cosh cot degrees even exp
    factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor isfinite isinf isnan lcm least
    least_common_multiple lgamma ln log log10 log2 nextafter pi pow power radians random round round_even
    roundbankers sign signbit sin sinh sqrt tan tanh trunc xor array_to_string
    array_to_string_comma_default ascii bar base64 bin bit_length char_length character_length chr concat
    concat_ws contains damerau_levenshtein editdist3 ends_with format format_bytes from_base64 from_hex
    hamming hash hex instr jaccard jaro_similarity jaro_winkler_similarity lcase left left_grapheme len
    length length_grapheme levenshtein lower lpad ltrim md5 mismatches nfc_normalize octet_length ord
    position prefix printf regexp_escape regexp_extract regexp_extract_all regexp_full_match
    regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table repeat replace reverse right
    right_grapheme rpad rtrim sha1 sha256 split split_part starts_with str_split str_split_regex
    string_split string_split_regex string_to_array strip_accents strlen strpos substr substring
    substring_grapheme suffix to_base to_base64 to_binary to_hex translate trim ucase unhex unicode upper
    url_decode url_encode age century date_add date_diff date_part date_sub date_trunc datediff datepart
    datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms
    epoch_us epoch_ns era hour isodow isoyear julian last_day make_date make_time make_timestamp
    microsecond millennium millisecond minute month monthname now quarter second strftime strptime
    time_bucket to_centuries to_days to_decades to_hours to_microseconds to_milliseconds to_minutes
    to_months to_quarters to_seconds to_timestamp to_weeks to_years today try_strptime week weekday
    weekofyear year yearweek coalesce constant_or_null nullif typeof if ifnull error array_append
    array_cat array_concat array_contains array_distinct array_extract array_filter array_has
    array_has_all array_has_any array_indexof array_intersect array_length array_position array_prepend
    array_reverse array_slice array_sort array_transform array_unique array_value array_zip cardinality
    element_at filter flatten generate_series generate_subscripts list_aggregate list_append list_apply
    list_avg list_cat list_concat list_contains list_count list_distinct list_element list_extract
    list_filter list_first list_has list_has_all list_has_any list_histogram list_indexof list_intersect
    list_last list_max list_median list_min list_mode list_pack list_position list_prepend list_product
    list_cosine_similarity list_inner_product list_reduce list_reverse list_reverse_sort list_select
    list_slice list_sort list_string_agg list_sum list_transform list_unique list_value list_where
    list_zip map map_concat map_contains map_entries
    map_extract map_extract_value map_from_entries map_keys map_values range reduce row struct_concat
    struct_extract struct_extract_at struct_insert struct_keys struct_pack struct_values unnest json
    json_array json_array_length json_contains json_exists json_extract json_extract_path
    json_extract_path_text json_extract_string json_keys json_object json_pretty json_quote json_structure
    json_type json_valid json_value to_json row_to_json any_value approx_count_distinct approx_quantile
    approx_top_k arbitrary arg_max arg_max_null arg_min arg_min_null argmax argmin array_agg avg bit_and
    bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop covar_samp entropy
    favg first fsum geomean geometric_mean group_concat grouping grouping_id histogram kahan_sum kurtosis
    kurtosis_pop last list listagg mad max max_by mean median min min_by mode product quantile
    quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum
    sum_no_overflow sumkahan var_pop var_samp variance wavg weighted_avg cume_dist dense_rank fill
    first_value lag last_value lead nth_value ntile percent_rank rank rank_dense row_number
    """.split()  # noqa: SIM905 (a list of 300 strings is no pleasure)
)
#: Types of nodes in a from clause.
# Not SHOW_REF: that is DESCRIBE and SUMMARIZE.
_FROM = frozenset(["BASE_TABLE", "TABLE_FUNCTION", "JOIN", "SUBQUERY", "EXPRESSION_LIST", "EMPTY"])
_QUERIES = frozenset(["SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"])
_EXPRESSIONS = frozenset(
    """
    BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA LAMBDA_REF
    OPERATOR PARAMETER POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW
    """.split()  # noqa: SIM905
)

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

#: A node of DuckDB's syntax tree.
Node = dict[str, object]


def require_harmless(duck: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Check SQL that is to run.

    Raises:
        QueryRejected: the SQL may not run, or is wrong; the message is one line.
    """
    try:
        size = len(sql.encode("utf-8"))
    except UnicodeEncodeError:
        raise QueryRejected("the query is not valid UTF-8; write it again") from None
    if size > MAX_BYTES:
        raise QueryRejected(f"the query is longer than {MAX_BYTES} bytes; shorten it")
    try:
        # First, as json_serialize_sql accepts several statements, and explains less about other kinds.
        _require_one_select(duck, sql)
        # Bound as a value: the query is parsed here and must not run.
        row = one_row(duck, "select json_serialize_sql(?::varchar)", [sql])
        tree = json.loads(row[0] if row else '{"error": true}')
        if tree.get("error"):
            raise QueryRejected(
                f"only plain SELECT queries run here: {_first_line(tree.get('error_message', ''))}"
            )
        if len(tree["statements"]) != 1:
            raise QueryRejected("give exactly one query")
        _visit(tree["statements"][0]["node"], frozenset(), 0)
    except QueryRejected:
        raise
    except Exception as error:  # fail closed: after any error, the query does not run
        raise QueryRejected(f"the query cannot be checked: {_first_line(str(error))}") from error


def _require_one_select(duck: duckdb.DuckDBPyConnection, sql: str) -> None:
    try:
        statements = duck.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryRejected(syntax_message(error)) from error
    if len(statements) != 1:
        raise QueryRejected(f"give exactly one query, not {len(statements)} (PIVOT counts as several)")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise QueryRejected(f"only SELECT queries run here, not {statements[0].type.name}")


def syntax_message(error: Exception) -> str:
    """Return DuckDB's error message as one line: without the echo of the query, but with candidate names.

    A long message is cut, as a query can make one of any length. Parts about DuckDB and the machine, not the
    query, are left out.

    >>> syntax_message(duckdb.Error('Parser Error: syntax error at or near "x"\\n\\nLINE 1: x'))
    'syntax error at or near "x"'
    >>> syntax_message(duckdb.IOException('IO Error: Cannot open file "/srv/x"'))
    'the query cannot be answered here; write it in another way'
    """
    if isinstance(error, _OF_THE_MACHINE):
        return _UNTOLD
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    shown = [line for line in lines if not line.startswith(("LINE ", "^"))]
    message = _CLASS.sub("", " ".join(shown[:4]))
    message = (
        " ".join(sentence for sentence in _SENTENCE.split(message) if not _ADVICE.search(sentence)) or _UNTOLD
    )
    return message if len(message) <= _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}..."


def _visit(node: object, scope: frozenset[str], depth: int) -> None:
    """Check a node of the tree and everything below it; ``scope`` holds the names of the CTEs in sight."""
    if depth > _MAX_DEPTH:
        raise QueryRejected(f"the query is nested more than {_MAX_DEPTH} deep; make it flatter")
    if isinstance(node, list):
        for child in node:
            _visit(child, scope, depth)
    elif isinstance(node, dict):
        inner = _with_ctes(node, scope, depth)
        _check(node, inner)
        itself = {_lower(node["cte_name"])} if node.get("type") == "RECURSIVE_CTE_NODE" else frozenset()
        for name, child in node.items():
            # `_with_ctes` has visited them, each with the names before it only.
            if name != "cte_map":
                _visit(child, inner | itself if name == "right" else inner, depth + 1)


def _with_ctes(node: Node, scope: frozenset[str], depth: int) -> frozenset[str]:
    """Check the CTEs of a query, each of which sees those before it; return the names in sight after them."""
    ctes = cast(dict[str, list[Node]], node.get("cte_map", {"map": []}))
    for entry in ctes["map"]:
        _visit(entry["value"], scope, depth + 1)
        scope = scope | {_lower(entry["key"])}
    return scope


def _check(node: Node, scope: frozenset[str]) -> None:
    # Kinds of nodes differ in their keys: expressions have a class, queries and from clauses only a type.
    if "class" in node and node["class"] not in _EXPRESSIONS:
        raise QueryRejected(f"expressions of the kind {node['class']} are not allowed here")
    kind = node.get("type")
    if "class" not in node and isinstance(kind, str) and _is_query_or_from(kind):
        if kind not in _FROM | _QUERIES:
            raise QueryRejected(f"{kind} is not allowed here; sentgen schema lists tables, views and columns")
        if kind == "BASE_TABLE":
            _check_relation(node, scope)
    if "function_name" in node:
        _check_function(node, FUNCTIONS | TABLE_FUNCTIONS)
    if kind == "TABLE_FUNCTION":
        _check_function(cast(Node, node["function"]), TABLE_FUNCTIONS)


def _is_query_or_from(kind: str) -> bool:
    """Whether a node without a class is a query or a part of a from clause.

    Other nodes whose type is text are modifiers and the types of values.
    """
    return not kind.endswith(("_MODIFIER", "_TYPE_INFO")) and not (
        kind.startswith("ORDER_") or kind in ("ASCENDING", "DESCENDING")
    )


def _check_relation(node: Node, scope: frozenset[str]) -> None:
    name = _lower(node["table_name"])
    qualified = bool(node.get("catalog_name")) or _lower(node.get("schema_name") or "main") != "main"
    # A name with a schema before it is that of a table, not of a CTE.
    if not qualified and (name in dictionary.names() or (name in scope and not node.get("schema_name"))):
        if node.get("at_clause"):
            raise QueryRejected("AT is not allowed here")
        return
    shown = ".".join(str(node[k]) for k in ("catalog_name", "schema_name", "table_name") if node.get(k))
    close = get_close_matches(name, dictionary.names() | scope, n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(sorted(close))}?" if close else ""
    raise QueryRejected(f"no table or view {shown!r} to read here{hint} (sentgen schema lists them)")


def _check_function(node: Node, allowed: frozenset[str]) -> None:
    name = _lower(node["function_name"])
    schema = _lower(node.get("schema") or "main")
    # Another schema or database might have a macro with the name of a harmless function.
    if name not in allowed or node.get("catalog") or schema not in ("main", "pg_catalog"):
        close = get_close_matches(name, allowed, n=3, cutoff=0.75)
        hint = f"; did you mean {' or '.join(sorted(close))}?" if close else ""
        raise QueryRejected(f"the function {name!r} is not allowed here{hint}")


def _lower(name: object) -> str:
    """Return a name as DuckDB compares it; Python's `lower` would make a *k* of U+212A.

    >>> _lower("DUCKDB_Tables"), _lower("\u212a") == "k"
    ('duckdb_tables', False)
    """
    return str(name).translate(_LOWER)


def _first_line(message: str) -> str:
    return message.splitlines()[0] if message else "DuckDB gives no reason"
