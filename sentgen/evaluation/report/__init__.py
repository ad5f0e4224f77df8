"""What every report of an experiment has: tables, plots, and a folder."""
