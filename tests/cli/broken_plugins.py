"""Plug-ins with one fault each, and the messages that users get."""

#: What stands before the code of a module, by kind.
PREAMBLE = {
    "readers": "from sentgen.plugins import Reader, Sentence\n",
    "algorithms": """\
from dataclasses import dataclass
from typing import Annotated
from sentgen.plugins import Algorithm, Ordering, Setting, Tree
@dataclass
class Taken: beam: Annotated[int, Setting("")] = 1
@dataclass
class Bare: bare: int = 1
@dataclass
class Picky:
    odd: Annotated[int, Setting("")] = 1
    def __post_init__(self):
        if self.odd % 2 == 0: raise ValueError("odd!")
def tree(heads): return [Ordering((0, 1), 1, Tree(heads, (1,) * len(heads), (0,) * len(heads), (0.0,) * len(heads)))]
def made(order, **more): return Algorithm("bad", "", order, lambda *_: None, **more)
""",
    "aligners": """\
from sentgen.plugins import Alignment, PhraseLink, System
class Gives:
    def __init__(self, *given): self.given = given
    def __call__(self, name): return self
    def align(self, pairs): return iter(self.given)
""",
    "scorers": "from sentgen.plugins import Scorer\n",
}
#: The command that meets it.
USE = {
    "readers": ("ingest", "a.bad", "--corpus", "a", "--format", "bad"),
    "algorithms": ("regenerate", "-m", "pets", "-a", "bad", "dog cat"),
    "aligners": (
        *("align", "text", "--document", "text", "--abstract", "text"),
        *("--format", "lines", "--system", "bad"),
    ),
    "scorers": ("regenerate", "-m", "pets", "-a", "lmo", "--rerank", "bad", "dog cat"),
}
#: The rest of the code of a module, and what is told, by kind.
BROKEN = {
    "readers": (
        ("raise RuntimeError('no\\nway')", "cannot be imported: RuntimeError: no; repair or uninstall"),
        ("import not_there", "cannot be imported: ModuleNotFoundError: No module named 'not_there'"),
        ("import sys; sys.exit(3)", "cannot be imported: SystemExit: 3"),
        ("x = (", "cannot be imported: SyntaxError"),
        ("y = 1", "cannot be imported: AttributeError"),
        ("x = 1", "is of the class int, not Reader of sentgen.plugins"),
        ("x = Reader('other', '1', lambda lines, path: [], '')", "calls itself 'other'"),
        ("x = Reader('bad', '1', lambda lines, path: [], '', '.bad')", "extensions that are no tuple"),
        ("x = Reader('bad', '1', lambda lines: [], '')", "has failed: TypeError: "),
        ("x = Reader('bad', '1', lambda lines, path: [next(lines), 1], '')", "a.bad:1: the reader 'bad' of broken 1.0 gives a str"),
        (
            "def read(lines, *, path):\n for line in lines:\n  yield Sentence([line], line=1)\n  1 / 0\n"
            "x = Reader('bad', '1', read, '')",
            "a.bad:1: the reader 'bad' of broken 1.0 has failed: ZeroDivisionError: division by zero (broken.py:5)",
        ),
        ("x = Reader('bad', '1', lambda lines, path: [Sentence(['a', 2])], '')", "whose forms are no list of texts"),
        ("x = Reader('bad', '1', lambda lines, path: [Sentence(['a'], heads=[True])], '')", "whose heads are no list of whole"),
        ("x = Reader('bad', '1', lambda lines, path: [Sentence(['a'], comments='d')], '')", "which is for CoNLL-U only"),
        ("x = Reader('bad', '1', lambda lines, path: [Sentence(['a\\x07'])], '')", "[control-character]"),
        ("x = Reader('bad', '1', lambda lines, path: [Sentence(['a'], heads=[1])], '')", "[head-self]"),
        ("x = Reader('bad', '1', lambda lines, path: [Sentence(['a'], misc=('b', 'c'))], '')", "[column-length]"),
    ),
    "algorithms": (
        ("x = made(lambda problem, nbest: []).order", "is of the class function, not Algorithm"),
        ("x = made(lambda problem, nbest: 1 / 0)", "has failed: ZeroDivisionError: division by zero (broken.py:15)"),
        ("x = made(lambda problem, nbest: None)", "has failed: TypeError"),
        ("x = made(lambda problem, nbest: [])", "gives 0 orderings where 1 to 1 belong"),
        ("x = made(lambda problem, nbest: ['a'])", "gives a str where an Ordering belongs"),
        ("x = made(lambda problem, nbest: [Ordering((0, 0), 0.0)])", "not every unit of the bag stands once: (0, 0)"),
        ("x = made(lambda problem, nbest: [Ordering((0, 1), float('nan'))])", "gives the score nan"),
        ("x = made(lambda problem, nbest: [Ordering((0, 1), 1)], settings=(int,))", "has failed: TypeError"),
        ("x = made(lambda problem, nbest: [Ordering((0, 1), 1)], settings=(Taken,))", "has a setting 'beam', which is one of sentgen"),
        ("x = made(lambda problem, nbest: [Ordering((0, 1), 1)], settings=(Bare,))", "has settings in Bare that are no Annotated"),
        ("x = made(lambda problem, nbest: [Ordering((0, 1), 1)], defaults={'beam': 1})", "has a value for 'beam', which is none of its settings"),
        ("x = made(lambda problem, nbest: [Ordering((0, 1), 1, Tree((1, 0), (0, 0), (0, 0), (0.0, 0.0)))])", "but `trees` of the algorithm is false"),
        ("x = made(lambda problem, nbest: [Ordering((0, 1), 1)], trees=True)", "gives an ordering without a tree"),
        ("x = made(lambda problem, nbest: tree((1, 0)), trees=True)", "gives a tree in which unit 0 is below itself: (1, 0)"),
        ("x = made(lambda problem, nbest: tree((-1, 2)), trees=True)", "heads or sides that there are not: (-1, 2)"),
        ("x = made(lambda problem, nbest: tree((-1,)), trees=True)", "one entry for each of 2 units"),
    ),
    "aligners": (
        ("x = 1", "is of the class int, not System"),
        ("x = System(Gives(), '', {'a b': int})", "settings that are no mapping"),
        ("x = System(lambda name: None, '')", "makes a NoneType without a method `align`"),
        ("x = System(lambda: None, '')", "has failed: TypeError"),
        ("x = System(Gives(), '')", "gives fewer answers than there are pairs"),
        ("x = System(Gives(1), '')", "gives a int where an Alignment belongs for pair 1"),
        ("x = System(Gives(Alignment(()), Alignment(())), '')", "gives more answers"),
        ("x = System(Gives(Alignment((PhraseLink((0, 9), (0, 1)),))), '')", "gives a link outside of the texts, (0, 9) to (0, 1)"),
        ("x = System(Gives(Alignment((PhraseLink((1, 2), (0, 1)), PhraseLink((0, 1), (0, 1))))), '')", "not in the order"),
        ("x = System(Gives(Alignment((), null=(0.5,))), '')", "gives 1 values of null where 2 belong"),
    ),
    "scorers": (
        ("x = len", "is of the class builtin_function_or_method, not Scorer of sentgen.plugins"),
        ("x = Scorer('other', '', len)", "calls itself 'other'"),
        ("x = Scorer('bad', '', 'score')", "has failed: TypeError: 'str' object is not callable"),
        ("x = Scorer('bad', '', lambda sentences: 1 / 0)", "has failed: ZeroDivisionError: division by zero (broken.py:2)"),
        ("x = Scorer('bad', '', lambda sentences: None)", "has failed: TypeError"),
        ("x = Scorer('bad', '', lambda sentences: [0.0] * 99)", "gives 99 scores for 2 sentences"),
        ("x = Scorer('bad', '', lambda sentences: [float('nan') for _ in sentences])", "gives the score nan, which is no finite number"),
        ("x = Scorer('bad', '', lambda sentences: [-float('inf') for _ in sentences])", "gives the score -inf, which is no finite number"),
        ("x = Scorer('bad', '', lambda sentences: ['-1.5' for _ in sentences])", "gives the score '-1.5', which is no finite number"),
        ("x = Scorer('bad', '', lambda sentences: [words.pop() for words in sentences])", "which is no finite number"),
    ),
}  # fmt: skip
