"""Small samples of every format; the mutants are made of them."""

from __future__ import annotations

from sentgen.demo import TREEBANK

_CONLLU = """\
# newdoc id = d1
# sent_id = s1
# text = Don't go
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\tgone\tgo\tVERB\tVB\t_\t_\t_\t3:conj\t_

# sent_id = s2
1\tThe\tthe\tDET\tDT\tDefinite=Def\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\t_
3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

"""
_CONLLX = """\
1\tThe\tthe\tDT\tDT\t_\t2\tNMOD\t_\t_
2\tdow\tdow\tNN\tNN\t_\t3\tSBJ\t_\t_
3\tfell\tfall\tVB\tVBD\t_\t0\tROOT\t_\t_

1\tIt\tit\tPR\tPRP\t_\t2\tSBJ\t_\t_
2\trose\trise\tVB\tVBD\t_\t0\tROOT\t_\t_

"""
_CONLLUP = """\
# global.columns = ID FORM LEMMA HEAD MISC PARSEME:MWE
# newdoc id = d1
1-2\tdon't\t_\t_\t_\t*
1\tdo\tdo\t2\t_\t*
2\tn't\tnot\t0\tSpaceAfter=No\t1:VID|2
2.1\tgo\tgo\t_\t_\t*

"""
_VERTICAL = """\
<!-- #vrt positional-attributes: word pos lemma head mode -->
<corpus name='c'>
<doc id="d1" genre="news &amp; more" title="He said "no" twice">
<p n=1>
<s id="s1" speaker="Ann">
R&amp;D\tNN\t_\t2\tSUBJ
<g/>
fell\tVBD\tfall\t0\t__UNDEF__
<name type="org">
</s>
AT&T\tNN\t<\t_\ta|b
</name>
.\t.\t.\t_\t_
<\t$(\t<\t_\t_
</p>
</doc>
"""
_CONLL2000 = """\
The DT B-NP
dow NNP I-NP
was VBD B-VP
down RB B-ADVP
. . O

It PRP B-NP
rose VBD B-VP
. . O

"""
_MRG = """\
( (S
    (NP-SBJ (NP (DT the) (NN market) (POS 's)) (NN drop))
    (NP-TMP (-NONE- *T*-1))
    (VP (VBD hurt)
      (NP (NP (NNS banks)) (PP (IN in) (NP (NNP Ohio)))))
    (. .)))
((S (NP (PRP It)) (VP (VBD rose) (-LRB- -LRB-)) (. .)))
"""
_POS = """\
[ The/DT dow/NNP ]
was/VBD down/RB
[ 35/CD points\\/day/NNS ]
./.
======================================
[ It/PRP ]
rose/VBD ,/,
"""
_DP = "The\tDT\t2\ndow\tNNP\t3\nwas\tVBD\t0\ndown\tRB\t3\n35\tCD\t6\npoints\\/day\tNNS\t3\n.\t.\t3\n\nIt\tPRP\t2\nrose\tVBD\t0\n,\t,\t2\n"
_JSONL = """\
{"tokens": ["The", "dog", "barks", "."], "id": "a"}
{"sentences": [["It", "rose"], ["It", "fell", "."]], "doc_id": "b"}
{"text": "The dog barks. The cat doesn't, e.g. at 3.5 p.m.", "id": 7}
{"tokens": ["Do", "n't"], "upos": ["AUX", "PART"], "heads": [0, 1], "deprels": ["root", "advmod"]}
"""
_LINES = "the dog sees the cat .\nthe cat , it 's said , sleeps .\n\na dog barks\n"
_TEXT = """\
The dog sees the cat. Mr. Smith doesn't; he paid $3.50 at 5 p.m. "Why?" he asked.

CHAPTER I
It was the best of times, it was the worst of times -- so they said… and
nobody (least of all I) knew.
"""
_TEI = """\
<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:id="d1" xml:lang="en"><teiHeader><fileDesc><titleStmt>
<title>A title</title><author>Ann</author></titleStmt></fileDesc></teiHeader><text><body>
<div type="chapter" n="1"><head>One</head><p>It was <hi rend="it">dark</hi>.<note>Or so.</note> It rained<lb/>
for <choice><sic>teh</sic><corr>the</corr></choice> &amp;c.</p><lg><l>A line</l><l>and another</l></lg>
<sp who="#a"><speaker>ANN.</speaker><p>Yes.</p></sp></div>
</body></text></TEI>
"""
_TEI_WORDS = """\
<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><u who="#Ann"><seg><s xml:id="s">
<w xml:id="w1" lemma="we" pos="PRP" msd="UPosTag=PRON|Number=Plur">We</w>
<w>cannot<w xml:id="w2" norm="can" lemma="can" msd="UPosTag=AUX"/><w xml:id="w3" norm="not" lemma="not"/></w>
<name type="PER"><w xml:id="w4" lemma="go" join="right">go</w></name><pc xml:id="w5">.</pc>
<linkGrp type="UD-SYN"><link ana="ud-syn:nsubj" target="#w4 #w1"/><link ana="ud-syn:aux" target="#w4 #w2"/>
<link ana="ud-syn:advmod" target="#w4 #w3"/><link ana="ud-syn:root" target="#s #w4"/>
<link ana="ud-syn:punct" target="#w4 #w5"/></linkGrp></s></seg></u></body></text></TEI>
"""
_FOLIA = """\
<FoLiA xmlns="http://ilk.uvt.nl/folia" version="2.5" xml:id="doc"><metadata type="native">
<meta id="title">A title</meta></metadata><text xml:id="t"><div class="chapter"><head><t>One</t></head>
<p><t>The cat.</t><s xml:id="s1"><w><t>The</t><pos class="DT"/><lemma class="the"/></w>
<w space="no"><correction><new><t>cat</t></new><original><t>cta</t></original></correction></w>
<w><t>.</t></w></s></p></div></text></FoLiA>
"""

#: Format of a corpus to its samples.
CORPORA = {
    "conllu": [_CONLLU, TREEBANK.read_text(encoding="utf-8")[:3000]],
    "conllup": [_CONLLUP],
    "conllx": [_CONLLX],
    "vertical": [_VERTICAL],
    "conll2000": [_CONLL2000],
    "mrg": [_MRG],
    "pos": [_POS],
    "dp": [_DP],
    "wsj": [_DP],
    "jsonl": [_JSONL],
    "lines": [_LINES],
    "text": [_TEXT],
    "tei": [_TEI, _TEI_WORDS],
    "folia": [_FOLIA],
}
#: The tagged file beside a .dp file.
TAGGED = _POS

PAIRS_JSONL = """\
{"id": "p0", "document": "The dog barks. It is loud.", "abstract": "Dogs bark."}
{"id": "p1", "document": ["the dog", "it barks"], "abstracts": ["a dog", "dogs"]}
{"key": 3, "article": [["the", "dog"], ["it", "barks"]], "highlights": [["a", "dog"]]}
{"paper_id": "x", "source": "one two three", "target": ["one", "two"]}
"""
PAIRS_TEXTS = ("the dog barks .\nit is loud .\n", "dogs bark\nloud\n")
PAIRS_CONLLU = _CONLLU.replace("# newdoc id = d1", "# newdoc id = a.document").replace(
    "# sent_id = s2", "# newdoc id = a.abstract\n# sent_id = s2"
)

#: Format of gold alignments to files of it, by their names.
GOLD = {
    "edinburgh": {
        "x.sure.json": '[{"id": "1", "source": "a b c", "target": "a c", "sureAlign": "0-0 2-1", "possibleAlign": ""},\n'
        ' {"id": "2", "source": "d e", "target": "e", "sureAlign": "1-0", "possibleAlign": ""}]\n',
        "x.sure+poss.json": '[{"id": "1", "source": "a b c", "target": "a c", "sureAlign": "0-0 2-1 1-1", "possibleAlign": ""},\n'
        ' {"id": "2", "source": "d e", "target": "e", "sureAlign": "1-0 0-0", "possibleAlign": ""}]\n',
    },
    "mtref": {
        "m.json": '[{"id": "1", "source": "a b c", "target": "a c", "sureAlign": "0-0", "possibleAlign": "2-1"}]\n'
    },
    "rte": {
        "dev_A.txt": "# sentence pair 1\nthe dog barks\nNULL ({ / / }) a ({ 1 / / }) dog ({ 2 p3 / / })\n",
        "dev_B.txt": "# sentence pair 1\nthe dog barks\nNULL ({ / / }) a ({ p1 / / }) dog ({ 2 / / })\n",
    },
    "multimwa": {"m.tsv": "1\ta b c\t-\ta c\t-\t-\t-\t0-0 2-1\t1-1\n2\td e\t-\te\t-\t-\t-\t1-0\t\n"},
    "pharaoh": {
        "document.txt": "a b c\nd e\n",
        "abstract.txt": "a c\ne\n",
        "links.A.txt": "0-0 2p1\n1-0\n",
        "links.B.txt": "0-0\n\n",
    },
    "pharaoh file": {"p.txt": "a b c ||| a c ||| 0-0 2-1\nd e ||| e ||| 1p0\n"},
    "handalign": {
        "abstracts/one": "a c\n",
        "documents/one": "a b c\n",
        "one.alignment": "0-0\n2-1\n",
    },
}

BAGS = [
    "down [the dow] was 35_points\n\n[the/DT dow/NNP] fell/VBD \\[ \\]\n",
    '{"units": ["fell", ["the", "dow"]], "id": "a"}\n{"words": ["fell", "dow"], "tags": ["VBD", "NNP"]}\n',
    '[{"units": ["fell", ["the", "dow"]]}, ["fell", "dow"]]',
    _CONLLU,
]

ARPA = """\
\\data\\
ngram 1=5
ngram 2=4

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.3
-0.7\t</s>
-0.6\tthe\t-0.2
-0.8\tdog\t-0.1

\\2-grams:
-0.4\t<s> the
-0.3\tthe dog
-0.2\tdog </s>
-1.1\tthe the

\\end\\
"""

#: Orders of lines.
ORDERS = ["none", "left", "1L,2L", "node%c,3R", "document,meta.year"]
PATTERNS = [
    "the *",
    "the dog barks",
    "upos:VERB lemma:b* ?",
    "the/DET *",
    "\\* word:a:b deprel:nsubj",
    "d?g *.",
    "xpos:N* */VBD",
]

QUERIES = [
    "select form, count(*) from word group by form order by 2 desc limit 5",
    "with t as (select w1, sum(count) as n from ngram_1 group by w1) select * from t join word on word.id = t.w1",
    "select lower(form), regexp_matches(form, '^a.*') from word where form like '%e%' or id in (1, 2, 3)",
    "select corpus, sum(tokens) over (order by corpus rows between 1 preceding and current row) from v_corpora",
    "from v_dependencies select head, modifier, count where count > 1 union all select 'x', 'y', 1",
    "select case when length(form) > 3 then [form, 'x'][1] else struct_pack(a := form).a end from word limit 3",
    "copy (select 1) to 'x.csv'",
    "select * from read_csv('/etc/passwd')",
]

#: Commands with options whose values are mutated: FILE and TREES stand for mutants of samples.
COMMANDS = [
    "ngrams 'the *' --limit 5 --min-count 1 --corpus demo",
    "kwic barks --context 5 --sort left --limit 3 --random 2",
    "freq --by upos --limit 5",
    "deps dog --limit 3 --layer unit",
    "collocations the --window 3 --measure logdice --limit 3",
    "ingest FILE --corpus x --order 2 --tags upos --on-error skip --format lines --memory-limit 500MB",
    "models build m --corpus demo --order 2 --smoothing katz --min-count 1,1 --unknown word",
    "models list --csv",
    "corpora show demo --rejected --json",
    "sql 'select 1' --json --memory-limit 100MB",
    "pairs ingest FILE FILE --corpus y --document-words 5 --order 1",
    "align text --document FILE --abstract FILE --system hmm:iterations=1 --format lines",
    "align text --document FILE --abstract FILE --preset paper --decode posterior --threshold 0.5 --json",
    "fuse 1 --with TREES --model demo --algorithm beam",
    "regenerate 'the dog barks' --model demo --algorithm beam --beam 8 --order 2 --nbest 2 --seed 3 --units np",
    "score 'the dog' --model demo",
    "db info --json",
]
