"""What fuses a cluster: an algorithm of `sentgen fuse`, or extraction, which takes a sentence as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sentgen.corpus.sentence import Sentence
from sentgen.errors import InputError
from sentgen.evaluation.fusion.measures import bleu_statistics
from sentgen.evaluation.regeneration.bleu import bleu
from sentgen.generation.clusters.casing import capitalized
from sentgen.generation.fusion.fuse import fused_sentences
from sentgen.generation.fusion.request import DEPVITERBI, FusionRequest
from sentgen.schema import Store

#: The words of a new sentence of a key and related sentences; None where there is none.
FusionSystem = Callable[[Sentence, Sequence[Sentence]], Sequence[str] | None]
#: Extraction: the key sentence, or the sentence that is most like the others.
KEY_ITSELF, CENTRAL = "key", "central"


def _key_itself(key: Sentence, related: Sequence[Sentence]) -> Sequence[str]:
    return key.forms


def _central(key: Sentence, related: Sequence[Sentence]) -> Sequence[str]:
    """Return the sentence with the highest BLEU to the others as its references; of equals the first one."""
    texts = [" ".join(one.forms) for one in (key, *related)]
    if len(texts) == 1:
        return key.forms
    others = [texts[:place] + texts[place + 1 :] for place in range(len(texts))]
    statistics, _ = bleu_statistics(texts, others)
    best = int(np.argmax(bleu(statistics, effective=True)))
    return (key, *related)[best].forms


#: By name.
EXTRACTION: Mapping[str, FusionSystem] = {KEY_ITSELF: _key_itself, CENTRAL: _central}
#: What is compared if nobody says otherwise: fusion as it is by default, the search of 2005, and extraction.
DEFAULT = (FusionRequest().algorithm, DEPVITERBI, *EXTRACTION)


def parse_fusers(names: Sequence[str], request: FusionRequest, store: Store) -> dict[str, FusionSystem]:
    """Return the systems of some names, in their order.

    Args:
        names: of extraction (`EXTRACTION`), or of algorithms of `sentgen fuse`.
        request: what algorithms share; the search of 2005 takes no model, and gets none.
        store: where the model is.

    Raises:
        InputError: there are none, one is named twice, or an algorithm needs a model.
    """
    if not names or len(set(names)) < len(names):
        raise InputError(f"name some systems, each once, such as {','.join(DEFAULT)}")
    return {name: EXTRACTION.get(name) or _fuser(name, request, store) for name in names}


def _fuser(name: str, shared: FusionRequest, store: Store) -> FusionSystem:
    model = None if name == DEPVITERBI else shared.model
    request = replace(shared, algorithm=name, model=model, nbest=1)
    request.check()

    def fuse(key: Sentence, related: Sequence[Sentence]) -> Sequence[str] | None:
        found = fused_sentences(key, related, request, store).sentences
        return capitalized(found[0].words) if found else None

    return fuse
