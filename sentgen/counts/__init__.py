"""From sentences to counts in the store, and the searches that look into them."""
