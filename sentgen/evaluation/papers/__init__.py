"""The experiments of papers, run again, beside the figures that they report."""
