"""Ways to write the same word: numbers in letters or digits, months, currencies."""

from __future__ import annotations

import re
from functools import lru_cache

from sentgen.alignment.words.dates import MONTHS
from sentgen.alignment.words.number_words import CARDINALS, ORDINALS

_PLAIN = re.compile(r"[\W_]+")
#: Short forms and what they stand for, without punctuation; for currencies and units the name.
_SHORT = """
% percent,pct percent,pc percent,$ dollar,dollars dollar,us$ dollar,usd dollar,hk$ dollar,€ euro,euros euro
£ pound,pounds pound,& and,mr mister,dr doctor,prof professor,gov governor,sen senator,rep representative
gen general,col colonel,lt lieutenant,sgt sergeant,st saint,vs versus,dept department,govt government
univ university,inst institute,corp corporation,inc incorporated,co company,cos companies,ltd limited
bros brothers,assn association,natl national,intl international,mt mount,ft feet,km kilometer
kms kilometer,kilometers kilometer,kilometre kilometer,kilometres kilometer,kg kilogram
kilograms kilogram,mln million,bln billion,bn billion,hrs hours,hr hour,mins minutes,min minute
sept september,tv television,phd doctorate,okay ok,alright ok,mom mother,dad father,xmas christmas
photo photograph,photos photographs,ad advertisement,ads advertisements,auto automobile,uk britain
till until,thru through,nite night,tonite tonight,ii 2,iii 3,iv 4,grey gray,tyre tire,tyres tires
cheque check,cheques checks,plough plow,gaol jail,programme program,storey story,draught draft
""".replace("\n", ",")


def _spellings() -> dict[str, str]:
    """Return what each written form stands for."""
    forms = dict(pair.split() for pair in _SHORT.split(",") if pair)
    forms |= {word: str(number) for word, number in CARDINALS.items()}
    forms |= {word: f"{number}th" for word, number in ORDINALS.items()}
    # *1st* becomes *1th*, which *first* is as well.
    for number, ending in enumerate(("st", "nd", "rd"), 1):
        forms |= {f"{ten}{number}{ending}": f"{ten}{number}th" for ten in ("", *range(2, 10))}
    # *May* has no short form, and *mar* is a word.
    return forms | {month[:3]: month for month in MONTHS if not month.startswith("ma")}


_FORMS = _spellings()


@lru_cache(maxsize=1 << 16)
def letters(word: str) -> str:
    """Return a word in lower case without punctuation."""
    return _PLAIN.sub("", word.lower())


@lru_cache(maxsize=1 << 16)
def same_word(word: str) -> str:
    """Return what all ways to write a word have in common; nothing for punctuation.

    >>> [same_word(word) for word in ("twenty-five", "25", "Jan.", "January", "%", "pre-war", "--")]
    ['25', '25', 'january', 'january', 'percent', 'prewar', '']
    """
    plain = letters(word)
    return _FORMS.get(word.lower(), _FORMS.get(plain, plain))
