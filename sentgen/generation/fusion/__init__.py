"""One new sentence from a key sentence and related ones (Global Revision)."""
