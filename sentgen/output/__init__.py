"""Output: the format of numbers, texts and tables, and files, plots, pages and progress bars."""
