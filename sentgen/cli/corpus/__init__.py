"""Commands that bring corpora in, or take them out."""
