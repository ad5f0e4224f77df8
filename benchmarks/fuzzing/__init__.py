"""What `benchmarks/fuzz.py` is made of: samples, mutations of them, and the readers that get the mutants."""
