"""Grew requests over dependency trees: text → `syntax` → one SQL statement.

`reading` parses a request, `scopes` finds what its names stand for, `compiler` writes what stands between
``from`` and ``limit``, `statements` the statements around it, and `matches` asks them.
"""
