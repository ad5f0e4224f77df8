"""Sentences from clusters of related ones (Wan et al. 2005), against bigrams."""
