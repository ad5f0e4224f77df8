"""The versions, oldest first; a merged one is never edited."""
