"""The tables, declared: one file for each kind of thing that is stored."""
