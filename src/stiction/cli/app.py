"""`stiction`: the door. Collects the commands and turns failures into one line and a status."""

import sys

import typer

from stiction._errors import InputError, RunError
from stiction.cli import motions, reproduce

app = typer.Typer(
    name="stiction",
    help="Contact dynamics for mechanisms: simulate, check, identify, translate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        import stiction

        print(stiction.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Options before the command."""


app.command()(motions.motions)
app.command()(reproduce.reproduce)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: 0 done, 1 failed on the way, 2 bad input (nothing written)."""
    try:
        status = app(args=arguments, prog_name="stiction", standalone_mode=False)
    except typer.TyperException as error:  # a wrong option or a missing argument
        _fail(error.format_message(), 2)
    except InputError as error:
        _fail(str(error), 2)
    except RunError as error:
        _fail(str(error), 1)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int) -> None:
    line = " ".join(message.split())
    if line:  # empty when only the help was asked for by giving no arguments
        print(f"stiction: {line}", file=sys.stderr)
    sys.exit(status)
