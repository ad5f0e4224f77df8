"""Ways to write the same word: numbers in letters or digits, months, currencies."""

from __future__ import annotations

import re
from functools import lru_cache

_PLAIN = re.compile(r"[\W_]+")
_UNITS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """
zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
"""
_MONTHS = "january february april june july august september october november december"
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
    units, ordinals = _UNITS.split(), _ORDINALS.split()
    forms = dict(pair.split() for pair in _SHORT.split(",") if pair)
    forms |= {word: str(number) for number, word in enumerate(units)}
    forms |= {word: f"{number}th" for number, word in enumerate(ordinals)}
    for ten, word in enumerate(_TENS.split(), 2):
        forms |= {word: f"{ten}0", word[:-1] + "ieth": f"{ten}0th"}
        forms |= {word + units[unit]: f"{ten}{unit}" for unit in range(1, 10)}
        forms |= {word + ordinals[unit]: f"{ten}{unit}th" for unit in range(1, 10)}
    # *1st* becomes *1th*, which *first* is as well.
    for number, ending in enumerate(("st", "nd", "rd"), 1):
        forms |= {f"{ten}{number}{ending}": f"{ten}{number}th" for ten in ("", *range(2, 10))}
    return forms | {month[:3]: month for month in _MONTHS.split()}


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
