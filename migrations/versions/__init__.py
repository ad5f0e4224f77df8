"""The versions, oldest first; a released one is never edited."""
