"""The `ragtrace` command line: commands, exit codes, and one line for every mistake."""

import os
import sys
from pathlib import Path

import typer

from ragtrace import __version__
from ragtrace.cli.analyze import analyze_command
from ragtrace.cli.demo import demo_command
from ragtrace.cli.diff import diff_command
from ragtrace.cli.evaluate import eval_app
from ragtrace.cli.export import export_command
from ragtrace.cli.gate import gate_command
from ragtrace.cli.help import show_help_without_command
from ragtrace.cli.inspect import inspect_command
from ragtrace.cli.manifest import manifest_command
from ragtrace.cli.monitor import monitor_command
from ragtrace.cli.report import report_command
from ragtrace.cli.split import split_command
from ragtrace.cli.tune import tune_command
from ragtrace.cli.validate import validate_command

app = typer.Typer(
    name="ragtrace",
    help="See, name and repair what goes wrong between your documents and your retriever.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("demo")(demo_command)
app.command("split")(split_command)
app.command("manifest")(manifest_command)
app.command("validate")(validate_command)
app.add_typer(eval_app, name="eval")
app.command("analyze")(analyze_command)
app.command("inspect")(inspect_command)
app.command("diff")(diff_command)
app.command("gate")(gate_command)
app.command("report")(report_command)
app.command("tune")(tune_command)
app.command("monitor")(monitor_command)
app.command("export")(export_command)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """See, name and repair what goes wrong between your documents and your retriever."""
    show_help_without_command(context)


def main() -> None:
    """Run the command line; exit 0 fine, 1 a check failed, 2 wrong use or unreadable input."""
    try:
        code = app(standalone_mode=False)
    except typer.Abort:
        code = 130
    except BrokenPipeError:
        # The reader of our output (head, less) went away; that is its right.
        sys.stderr.close()
        code = 0
    except typer.TyperException as error:
        code = complain(error.format_message())
    except OSError as error:
        code = complain(describe(error))
    except (ValueError, ImportError) as error:
        code = complain(str(error))
    sys.exit(code if isinstance(code, int) else 0)


def describe(error: OSError) -> str:
    """Say what the system refused, the file first and without the number of the error."""
    if error.filename is None or error.strerror is None:
        return str(error)
    if isinstance(error, IsADirectoryError):
        return f"{error.filename}: a folder; give a file"
    if isinstance(error, FileNotFoundError):
        folder = Path(os.fsdecode(error.filename)).parent
        if not folder.exists():
            return f"{error.filename}: there is no folder {folder}; make it first"
        return f"{error.filename}: no such file"
    return f"{error.filename}: {error.strerror}"


def complain(message: str) -> int:
    """Write one line that says what is wrong; return the exit code of wrong use."""
    typer.echo(f"ragtrace: {' '.join(message.split())}", err=True)
    return 2
