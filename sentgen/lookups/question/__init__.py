"""What all questions have in common: corpora, word patterns, options and pages."""
