"""Bags of words and phrases, and the problem of ordering one: what all algorithms share."""
