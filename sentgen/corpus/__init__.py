"""From text in many formats to sentences: sources, readers, parsers, validation, base noun phrases."""
