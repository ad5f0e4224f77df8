"""Parameters of all other operations, and of the pages, that want to be more than values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from fort import Fort, fortified, require_clean, require_problem

from sentgen.server.operations import operations
from sentgen.server.operations.operation import Operation
from sentgen.server.pages import site
from sentgen.server.parameters import parameters
from sentgen.server.settings import ServerSettings

VALUES = r"""
' or 1=1 --
'); drop table word; --
" union select content from read_text('{folder}/canary.txt') --
{folder}/canary.txt
../canary.txt
udpipe:{folder}/canary.txt
{address}/x
udpipe:{address}/x
%
* * * * *
lemma:' or ''='
a/b/c/d
[[[((({{{7*7}}}
${CANARY} $(cat canary.txt) `cat canary.txt`
<script>alert(1)</script>
-1e999
relief@1; drop table model
\u202e\u0000\u2028\U0001f4a9
""".strip().splitlines()
#: Whatever is refused, or found, or not.
TOLD = {200, 307, 400, 404, 409, 413, 422}


@pytest.fixture(scope="module")
def attacked(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fort]:
    """A server whose workers may load what a look-up needs: a short deadline ends them, and the next begins anew."""
    with fortified(demo, tmp_path_factory) as fort:
        yield fort


def values(fort: Fort, address: str) -> list[str]:
    places = {"{folder}": str(fort.folder), "{address}": address}
    written = (re.sub("{folder}|{address}", lambda found: places[found[0]], value) for value in VALUES)
    return ["", " ", "x" * 1_000, *(value.encode("ascii").decode("unicode-escape") for value in written)]


def texts(operation: Operation) -> list[str]:
    """The parameters of an operation that are texts, or lists of them."""
    schemas = parameters(operation).model_json_schema()["properties"]
    return [
        name
        for name, schema in schemas.items()
        if '"string"' in json.dumps(schema) or "$ref" in json.dumps(schema)
    ]


CASES = [
    (operation, name)
    for operation in operations().values()
    if operation.api and operation.kind != "sql"
    for name in texts(operation)
]


@pytest.mark.parametrize(
    ("operation", "name"), CASES, ids=[f"{operation.name} {name}" for operation, name in CASES]
)
def test_values_stay_values(
    fort: Fort, listening: str, operation: Operation, name: str, nightly: bool
) -> None:
    """Whatever a parameter says is looked up, or refused: in the query string, the path, and JSON.

    By day each parameter says some of it, and each of it is said by some.
    """
    takes_list = parameters(operation).model_json_schema()["properties"][name].get("type") == "array"
    step = 7 if operation.kind == "compute" else 1  # computing takes its time
    first, step = (0, step) if nightly else (CASES.index((operation, name)) % 5, 5 * step)
    for value in values(fort, listening)[first::step]:
        asked = {**operation.example, name: [value] if takes_list else value}
        path = re.sub(r"\{(\w+)\}", lambda found: quote(str(asked.pop(found[1])), safe=""), operation.route)  # noqa: B023
        if operation.method == "POST":
            response = fort.request("POST", path, json=asked)
        else:
            response = fort.request("GET", path, params=asked)

        require_clean(response)
        assert response.status_code in TOLD, (value, response.text)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/v1/ngrams", "pattern=the&limit=NaN"),
        ("/v1/ngrams", "pattern=the&limit=1e9"),
        ("/v1/ngrams", "pattern=the&limit=99999999999999999999"),
        ("/v1/ngrams", "pattern=the&limit=-1"),
        ("/v1/ngrams", "pattern=the&limit=%D9%A3x"),
        ("/v1/ngrams", "pattern=the&min_count=9223372036854775808"),
        ("/v1/ngrams", "pattern=the&unknown=1"),
        ("/v1/ngrams", "pattern=the&format=exe"),
        ("/v1/ngrams", "pattern=the&format=../../canary"),
        ("/v1/ngrams", "pattern=the&escape_formulas=perhaps"),
        ("/v1/ngrams", "pattern=the&pattern=a%20*%20b%20c%20d%20e"),
        ("/v1/ngrams", "&".join(["corpus=x"] * 5_000)),
        ("/v1/ngrams", ""),
        ("/v1/kwic", "pattern=the&context=1e3"),
        ("/v1/kwic", "pattern=the&random=1.5"),
        ("/v1/kwic", "pattern=the&sort=__class__"),
        ("/v1/collocations", "word=the&window=-1,-1"),
        ("/v1/collocations", "word=the&window=1;2"),
    ],
)
def test_wrong_parameters_are_refused(fort: Fort, path: str, query: str) -> None:
    """With what is wrong."""
    require_problem(fort.request("GET", f"{path}?{query}"), 400, 404, 422)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/score", {"text": ["x " * 300_000], "model": "relief"}),
        ("/v1/score", {"text": ["x"] * 10_000, "model": "relief"}),
        ("/v1/score", {"text": ["x"], "model": "relief@99999999999999999999"}),
        ("/v1/score", {"text": [["x"]], "model": "relief"}),
        ("/v1/regenerate", {"bag": ["x " * 5_000], "model": "relief"}),
        ("/v1/regenerate", {"bag": ["[" * 5_000], "model": "relief"}),
        ("/v1/regenerate", {"bag": ["the people"], "model": "relief", "order": 10**9}),
        ("/v1/regenerate", {"bag": ["the people"], "model": "relief", "nbest": 10**9}),
        ("/v1/regenerate", {"bag": ["the people"], "model": "relief", "algorithm": "os.system"}),
        ("/v1/regenerate", {"bag": ["the people"], "model": "relief", "beam": 10**12}),
    ],
)  # fmt: skip
def test_computation_is_bounded(fort: Fort, path: str, body: dict[str, object]) -> None:
    """Too much is refused before it begins."""
    require_problem(fort.request("POST", path, json=body), 400, 404, 413, 422)


#: All names that the pages look for in the query string.
NAMES = sorted(
    {
        name
        for module in Path(site.__file__).parent.glob("*.py")
        for name in re.findall(r'query\.\w+\(\s*"(\w+)"', module.read_text())
    }
)
#: What a server without a class has; that of a class is attacked by tests of its own.
PAGES = [page.path for page in site.offered_pages(ServerSettings(Path(), desk=Path("class.desk")))]
SCRIPT = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}</textarea></title>"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("page", PAGES)
def test_pages_escape_their_parameters(fort: Fort, page: str, method: str, nightly: bool) -> None:
    """All at once, and one at a time, by day a tenth of them; no page breaks, and no script gets in."""
    first = PAGES.index(page)
    for names in ([], NAMES, *([name] for name in (NAMES if nightly else NAMES[first % 10 :: 10]))):
        response = fort.request(method, page, params=dict.fromkeys(names, SCRIPT))

        require_clean(response)
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert response.status_code in TOLD, names
        assert "<script>alert" not in response.text
        assert "<img src=x" not in response.text
        assert "</textarea></title>" not in response.text


@pytest.mark.nightly(by_day=4)
@pytest.mark.parametrize("page", PAGES)
def test_pages_bear_odd_parameters(fort: Fort, listening: str, page: str) -> None:
    """Numbers that are none, names of what is not there, control characters."""
    for value in values(fort, listening)[::2]:
        for names in (NAMES[::2], NAMES[1::2]):  # all of them make too long a URL
            response = fort.request("GET", page, params=dict.fromkeys(names, value))

            require_clean(response)
            assert response.status_code in TOLD, value
