"""New sentences from clusters of related ones."""
