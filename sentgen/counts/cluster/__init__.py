"""Count a corpus on many machines into a lake: plain functions over files, which `dask_engine` runs."""
