"""Models made of other models: mixtures of them, and a pruned one."""
