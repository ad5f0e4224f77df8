"""How things look on their way out: numbers, text, tables, pages and bars."""
