"""Views of an alignment: blocks of words, figures, and pages."""
