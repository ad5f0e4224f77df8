"""What `benchmarks/soak.py` is made of: commands, the processes that run and are killed, and digests of stores."""
