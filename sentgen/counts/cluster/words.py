"""One number for every word of all shards: by falling frequency, ties by form, behind those of the lake.

Words are dealt out to partitions by their hash, so that no task holds all of them but the one that numbers
them, in DuckDB, which spills.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sentgen.arrays import Ints
from sentgen.corpus.vocabulary import Vocabulary
from sentgen.counts.cluster.shards import partitioned
from sentgen.counts.cluster.stages import read_batch, write_batches
from sentgen.schema.engine import arrow_reader, arrow_table, one_number, settings
from sentgen.schema.lakes.layout import LakeFile
from sentgen.schema.lakes.places import Place
from sentgen.schema.lakes.transfer import write_file
from sentgen.schema.tables.corpus import BOS, EOS, RESERVED_TAGS, RESERVED_WORDS
from sentgen.temporary import aside

_KNOWN = pa.schema([("id", pa.int32()), ("form", pa.string())])
_COUNTED = pa.schema([("id", pa.int32()), ("form", pa.string()), ("count", pa.int64())])
_NUMBERS = pa.schema([("number", pa.int32()), ("id", pa.int32())])
_NUMBERED = """
create temp table numbered as
select
    coalesce(
        id,
        $next - 1 + row_number() over (partition by id is null order by count desc, form)
    )::integer as id,
    form,
    count,
    id is null as is_new
from read_parquet($files)
"""
#: The first words of each range: every token begins one record, and so does every mark of a sentence.
_RANGES = """
with begun as (
    select id, count from numbered
    union all
    select unnest([$bos, $eos]) as id, $sentences as count
),
summed as (
    select id, sum(count) over (order by id rows between unbounded preceding and 1 preceding) as before
    from begun
)
select min(id)::integer as first
from summed
group by coalesce(before, 0)::bigint // $most
order by first
"""


def split_words(lake: Place, file: str, parts: int, to: Path) -> dict[str, object]:
    """Deal the words of a file of the lake out to the partitions."""
    with lake.open(file) as opened:
        rows = pq.read_table(opened, columns=["id", "form"]).combine_chunks()
    hashed = Vocabulary()
    hashed.encode(rows["form"].to_pylist())
    batch = pa.Table.from_arrays(rows.columns, schema=_KNOWN).to_batches(max_chunksize=None)
    write_batches(to, _KNOWN, partitioned(batch[0], hashed, parts))
    return {"words": rows.num_rows}


def sum_words(part: int, shards: Sequence[Path], known: Sequence[Path], to: Path) -> dict[str, object]:
    """Sum the words of one partition over all shards, with the number that the lake has for them, if any."""
    words = Vocabulary()
    counts = np.zeros(0, np.int64)
    for path in shards:
        rows = read_batch(path, part)
        numbers = words.encode(rows["form"].to_pylist())
        counts = np.concatenate((counts, np.zeros(len(words) - counts.size, np.int64)))
        counts[numbers] += rows["count"].to_numpy()  # a shard has each word once
    size = counts.size
    ids = np.concatenate((np.full(size, -1, np.int32), np.zeros(0, np.int32)))
    for path in known:
        rows = read_batch(path, part)
        numbers = words.encode(rows["form"].to_pylist())
        here = numbers < size
        ids[numbers[here]] = rows["id"].to_numpy()[here]
    forms = words.strings().slice(0, size).cast(pa.string())
    rows = pa.table([pa.array(ids, mask=ids < 0), forms, pa.array(counts)], schema=_COUNTED)
    with aside(to) as draft:
        pq.write_table(rows, draft, compression="lz4")
    return {"words": size}


def number_words(
    lake: Place, summed: Sequence[Path], first: int, part: int, *, sentences: int, most: int, memory: int
) -> dict[str, object]:
    """Number the new words, write them to the lake, and cut all words into ranges.

    Args:
        lake: the lake.
        summed: what `sum_words` wrote.
        first: the next free number; 0 in a new lake, which gets the reserved words, too.
        part: place of the file among those of the table.
        sentences: number of sentences.
        most: records that begin with the words of a range, about.
        memory: bytes that DuckDB may take.
    """
    following = max(first, len(RESERVED_WORDS))
    reserved = _reserved(RESERVED_WORDS, "form") if first == 0 else []
    with database(summed[0].parent, memory) as duck:
        files = [str(path) for path in summed]
        duck.execute(_NUMBERED, {"next": following, "files": files})
        new = one_number(duck, "select count(*) from numbered where is_new")
        file: LakeFile | None = None
        if new or reserved:
            fresh = arrow_reader(duck, "select id, form from numbered where is_new order by id")
            file = write_file(lake, "word", part, chain(reserved, fresh))
        values = {"bos": BOS, "eos": EOS, "sentences": sentences, "most": most}
        ranges = arrow_table(duck, _RANGES, values)["first"].to_pylist()
        words = one_number(duck, "select count(*) from numbered")
    return {"file": asdict(file) if file else None, "new": new, "words": words, "ranges": [0, *ranges[1:]]}


def resolve_words(part: int, shards: Sequence[Path], known: Sequence[Path], to: Path) -> dict[str, object]:
    """Write a batch for each shard: its own numbers of the partition's words, and those of the lake."""
    words = Vocabulary()
    found: list[Ints] = []
    for path in known:
        rows = read_batch(path, part)
        words.encode(rows["form"].to_pylist())
        found.append(rows["id"].to_numpy())
    ids = np.concatenate(found) if found else np.empty(0, np.int32)

    def numbers() -> Iterator[pa.RecordBatch]:
        for path in shards:
            rows = read_batch(path, part)
            here = ids[words.encode(rows["form"].to_pylist())]
            yield pa.record_batch([rows["number"], pa.array(here, pa.int32())], schema=_NUMBERS)

    write_batches(to, _NUMBERS, numbers())
    return {}


def number_tags(
    lake: Place, shards: Sequence[Path], known: Sequence[str], first: int, part: int, to: Path
) -> dict[str, object]:
    """Number the labels of the counts, the frequent ones first, and write the new ones to the lake."""
    counts: dict[str, int] = {}
    for path in shards:
        for row in pq.read_table(path).to_pylist():
            counts[row["name"]] = counts.get(row["name"], 0) + row["count"]
    ids = {name: number for number, name in enumerate(RESERVED_TAGS)}
    for name in known:
        with lake.open(name) as opened:
            ids |= {row["name"]: row["id"] for row in pq.read_table(opened).to_pylist()}
    new = sorted(counts.keys() - ids.keys(), key=lambda name: (-counts[name], name))
    fresh = {name: number for number, name in enumerate(new, max(first, len(RESERVED_TAGS)))}
    rows = [] if first else list(_reserved(RESERVED_TAGS, "name"))
    if fresh:
        rows.append(
            pa.record_batch([pa.array(fresh.values(), pa.int32()), pa.array(fresh)], names=["id", "name"])
        )
    file = write_file(lake, "tag", part, rows) if rows else None
    ids |= fresh
    with aside(to) as draft:
        pq.write_table(pa.table({"name": pa.array(ids), "id": pa.array(ids.values(), pa.int32())}), draft)
    return {"file": asdict(file) if file else None}


def _reserved(strings: Sequence[str], column: str) -> Iterable[pa.RecordBatch]:
    ids = pa.array(range(len(strings)), pa.int32())
    return [pa.record_batch([ids, pa.array(strings)], names=["id", column])]


@contextmanager
def database(folder: Path, memory: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills into a folder."""
    # One thread: the tasks beside it have the other cores.
    config = settings(max(memory, 64 << 20), 1) | {"temp_directory": str(folder / ".duckdb")}
    with duckdb.connect(config=config) as duck:
        yield duck
