"""Answer a group of commands called without one."""

import typer


def show_help_without_command(context: typer.Context) -> None:
    """Print the commands there are and stop with the code of wrong use, if none was named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)
