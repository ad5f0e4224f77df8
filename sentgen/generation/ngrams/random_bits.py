"""Random bits that are always the same (SplitMix64, Steele et al. 2014), for hashes; compiled."""

from __future__ import annotations

import numpy as np

from sentgen.arrays import compiled

#: 2^64 over the golden ratio: its multiples never come close to each other for long.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def random_bits(number: int) -> np.uint64:
    """Return the random bits of a number, from 0."""
    return mixed(np.uint64(number) * GOLDEN)


@compiled
def mixed(bits: np.uint64) -> np.uint64:
    """Return random bits for other bits."""
    bits = bits + GOLDEN
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
