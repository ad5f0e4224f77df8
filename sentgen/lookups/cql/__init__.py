"""CQL, the query language of CWB, NoSketch Engine and BlackLab, compiled to SQL over `token`.

`grammar` parses a query into the tree of `syntax`; `automaton` turns its regular parts into automata with a
state for each token pattern; `conditions` writes conditions on tokens and regions in SQL, `spans` writes the
statement, and `search` is the interface for other look-ups.
"""
