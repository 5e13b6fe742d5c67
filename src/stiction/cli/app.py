"""`stiction`: the door. Collects the commands and turns failures into one line and a status."""

import atexit
import gc
import os
import sys
import warnings

import typer

from stiction._errors import InputError, RunError
from stiction.cli import (
    capability,
    grf,
    identify,
    impact,
    info,
    jump,
    motions,
    posture,
    reproduce,
    restitution,
    run,
    scenes,
    translate,
)

app = typer.Typer(
    name="stiction",
    help="Contact dynamics for mechanisms: simulate, check, identify, translate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> bool:
    if wanted:
        import stiction

        print(stiction.__version__)
        raise typer.Exit
    return wanted


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Options before the command."""


app.command()(run.run)
app.command()(impact.impact)
app.command()(info.info)
app.command()(motions.motions)
app.command()(scenes.scenes)
app.command()(reproduce.reproduce)
app.command()(grf.grf)
app.command()(jump.jump)
app.command()(restitution.restitution)
app.command()(translate.translate)
app.command()(identify.identify)
app.command()(capability.capability)
app.command()(posture.posture)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: 0 done, 1 failed on the way, 2 bad input (nothing written)."""
    # Imports and tracing make a million objects that stay: looking through them for garbage, again
    # and again and once more at the end, takes a quarter of a short command's time.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)
    warnings.showwarning = _show_warning
    # Equinox raises from compiled code by a callback, which keeps the program out of the cache on
    # disk. Here a failure is a result code or nan, and `Trajectory.check` says so.
    os.environ.setdefault("EQX_ON_ERROR", "nan")
    os.environ.setdefault("MUJOCO_GL", "disable")  # only its compiler is used: load no screen
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


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """A warning as one line on standard error, without the place in the code."""
    print(f"stiction: note: {message}", file=sys.stderr)


def _fail(message: str, status: int) -> None:
    line = " ".join(message.split())
    if line:  # empty when only the help was asked for by giving no arguments
        print(f"stiction: {line}", file=sys.stderr)
    sys.exit(status)
