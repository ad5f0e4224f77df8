"""The lattice of phrase events of a pair: what it holds, exact inference over it, and decoding."""
