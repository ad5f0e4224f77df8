"""Grew requests over dependency trees: text → `syntax` → one SQL statement.

`reading` parses a request; `compiler` writes the from and where clauses of the statement, with conditions
from `conditions`; `matches` writes and runs the statements around them.
"""
