"""String regeneration (Wan et al. 2007, 2009): words are shuffled, put in order again, and compared."""
