"""Lakes: stores as Parquet files in a folder or bucket, which are written once and only read."""
