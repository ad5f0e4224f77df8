"""The command line: one Typer file per noun; commands parse, call one library function, and print."""

from __future__ import annotations

import os
import sys

import typer

from sentgen.cli import corpora, db, demo, evaluate, ingest, inspect, models, regenerate, schema, score, sql
from sentgen.errors import SentgenError

app = typer.Typer(
    name="sentgen",
    help="A corpus and model server for statistical sentence generation.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

app.command("demo")(demo.demo)
app.command("ingest", rich_help_panel="Corpora")(ingest.ingest)
app.add_typer(corpora.app, name="corpora", rich_help_panel="Corpora")
for name in ("ngrams", "deps", "args", "kwic", "freq", "collocations"):
    app.command(name, rich_help_panel="Look inside")(getattr(inspect, name))
app.command("sql", rich_help_panel="Look inside")(sql.sql)
app.command("schema", rich_help_panel="Look inside")(schema.show)
app.add_typer(models.app, name="models", rich_help_panel="Models and sentences")
app.command("score", rich_help_panel="Models and sentences")(score.score)
app.command("regenerate", rich_help_panel="Models and sentences")(regenerate.regenerate)
app.add_typer(evaluate.app, name="evaluate", rich_help_panel="Models and sentences")
app.add_typer(db.app, name="db", rich_help_panel="The store")


def main() -> None:
    """Run sentgen; what the user did wrong comes out as one line and exit code 1."""
    try:
        app()
    except SentgenError as error:
        typer.echo(f"sentgen: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("sentgen: interrupted; what was finished is kept", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
