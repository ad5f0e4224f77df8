"""What a tuned model sees of a pair, as numbers: the values of its features (``weight_names``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentgen.arrays import Bytes

#: Bytes of a pair of words while clues are looked for, and what is kept of them and of the scores.
CLUE_BYTES = 200


@dataclass(frozen=True, slots=True)
class Clues:
    """Values of link templates (templates, m, n), and of null templates, (templates, m) and (templates, n).

    The last link template, ``seen in gold links``, depends on the model.
    """

    links: Bytes
    abstract: Bytes
    document: Bytes

    def exchanged(self) -> Clues:
        """Return the clues with document and abstract exchanged."""
        return Clues(np.ascontiguousarray(self.links.transpose(0, 2, 1)), self.document, self.abstract)
