"""Read pairs from files, without a store."""

from __future__ import annotations

from collections.abc import Iterator

from sentgen.alignment.pair import Pair
from sentgen.corpus.pair_readers import PairSettings, pair_files
from sentgen.errors import Rejection


def read_pairs(*paths: str, settings: PairSettings | None = None) -> Iterator[Pair]:
    """Yield the pairs of files, as `sentgen pairs ingest` would store them.

    Args:
        paths: JSON Lines, two parallel files, a folder, or CoNLL-U; see `sentgen.corpus.pair_readers`.
        settings: how pairs are found and how texts become words.

    Raises:
        InputError: something is wrong with a file, with file and line.
    """
    settings = settings or PairSettings()
    for file in pair_files(paths):
        for found in file.read(settings):
            pair = found if isinstance(found, Rejection) else found.tokenised(settings)
            if isinstance(pair, Rejection):
                raise pair.as_error("pair")
            yield Pair.of_sentences(pair.key, pair.document, pair.abstract)
