"""Grew requests over dependency trees: text → `syntax` → one SQL statement.

`reading` parses a request, `compiler` writes what stands between ``from`` and ``limit``, with the conditions
that `conditions` writes, and `matches` has the statements around it, and asks them.
"""
