"""Bags of words and phrases, and the problem of ordering a bag, which all algorithms share."""
