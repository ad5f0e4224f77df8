"""Check of the verb arguments and words of a summary against its source."""
