"""Tables of runs of experiments: their data, their settings, and every figure that came out."""

from __future__ import annotations

from sqlalchemy import DateTime, Double, Integer, String, Table

from sentgen.schema.base import column, key, metadata

run = Table(
    "run",
    metadata,
    key("Number of the run."),
    column("command", String, "Command that ran."),
    column("parameters", String, "Its parameters as JSON, hashes of its input files among them."),
    column("seed", Integer, "Seed of its random numbers.", nullable=True),
    column("version", String, "Version of sentgen."),
    column("started_at", DateTime, "When it began (UTC)."),
    column("seconds", Double, "How long it took."),
    comment="One evaluation or experiment.",
)

score = Table(
    "score",
    metadata,
    column("run_id", Integer, "Run that it belongs to."),
    column("system", String, "Algorithm or system that was measured."),
    column("item", Integer, "Sentence of the test set, from 1; null for the whole set.", nullable=True),
    column("metric", String, "Name of the metric."),
    column("value", Double, "Its value."),
    column("signature", String, "How it was computed, so that others can repeat it.", nullable=True),
    comment="Every figure that an evaluation printed.",
)

output = Table(
    "output",
    metadata,
    column("run_id", Integer, "Run that it belongs to."),
    column("system", String, "Algorithm or system that wrote it."),
    column("item", Integer, "Sentence of the test set, from 1."),
    column("input", String, "What the system was given."),
    column("output", String, "What it wrote."),
    column("reference", String, "What it should have written."),
    comment="The sentences that a run produced.",
)
