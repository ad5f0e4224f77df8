"""Commands that make sentences."""
