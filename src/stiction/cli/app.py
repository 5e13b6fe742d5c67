"""`stiction`: the door. Collects the commands and turns failures into one line and a status."""

import atexit
import gc
import os
import sys
import warnings
from typing import Any, NoReturn

import typer

from stiction._base.errors import InputError, RunError
from stiction.cli import (
    capability,
    compare,
    gait,
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
    studio,
    study,
    translate,
    version,
)
from stiction.cli.command import INTERRUPTED, CommandError, envelope, register
from stiction.cli.terminal import plain
from stiction.report import json_text

app = typer.Typer(
    name="stiction",
    help="Contact dynamics for mechanisms: simulate, check, identify, translate.",
    epilog="Help of a command: stiction COMMAND -h",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)

# In the order of the help page, heading by heading.
COMMANDS = (
    run.run,
    compare.compare,
    studio.studio,
    study.study,
    impact.impact,
    motions.motions,
    restitution.restitution,
    translate.translate,
    identify.identify,
    gait.gait,
    grf.grf,
    jump.jump,
    capability.capability,
    posture.posture,
    info.info,
    scenes.scenes,
    version.version,
    reproduce.reproduce,
)
for function in COMMANDS:
    register(app, function)


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


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: 0 done, 1 failed on the way, 2 bad input (nothing written)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _mend_streams()
    # Imports and tracing make a million objects that stay: looking through them for garbage, again
    # and again and once more at the end, takes a quarter of a short command's time.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)
    warnings.showwarning = _show_warning
    # Equinox raises from compiled code by a callback, which keeps the program out of the cache on
    # disk. Here a failure is a result code or nan, and `Trajectory.check` says so.
    os.environ.setdefault("EQX_ON_ERROR", "nan")
    # Mostly only MuJoCo's compiler is used: load no screen. A video is drawn without one.
    os.environ.setdefault("MUJOCO_GL", "egl" if _draws(arguments) else "disable")
    try:
        status = app(args=arguments, prog_name="stiction", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:  # a wrong option or a missing argument
        _fail(arguments, error.format_message(), 2)
    except InputError as error:
        _fail(arguments, str(error), 2)
    except CommandError as error:
        _fail(arguments, str(error), error.status, error.data)
    except RunError as error:
        _fail(arguments, str(error), 1)
    except (typer.Abort, KeyboardInterrupt):
        _fail(arguments, "interrupted", INTERRUPTED)
    except OSError as error:  # a full disk behind standard output, an input that cannot be read
        _fail(arguments, f"{error.filename or 'output'}: {error.strerror or error}", 1)
    else:
        if status == INTERRUPTED:  # typer turns Ctrl-C into this status and says nothing
            _fail(arguments, "interrupted", INTERRUPTED)
        sys.exit(status if isinstance(status, int) else 0)


def _draws(arguments: list[str]) -> bool:
    return "studio" in arguments or any(a.startswith("--video") for a in arguments)


def _mend_streams() -> None:
    """Make closed standard streams lead nowhere, instead of into the next file that is opened."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # `print` would take the other one
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # signs that a terminal does not have


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """A warning as one line on standard error, without the place in the code."""
    print(f"stiction: note: {message}", file=sys.stderr)


def _fail(
    arguments: list[str], message: str, status: int, data: dict[str, Any] | None = None
) -> NoReturn:
    """One line on standard error and, with `--json`, one object on standard output."""
    line = plain(" ".join(message.split()))
    try:
        if "--json" in arguments:
            known = {function.__name__ for function in COMMANDS}
            command = next((a for a in arguments if a in known), "stiction")
            error = {"kind": "input" if status == 2 else "run", "message": line}
            print(json_text(envelope(command, data or {}, error)))
        sys.stdout.flush()
    except OSError:  # nothing more can be said there, not even when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if line:  # empty when only the help was asked for by giving no arguments
        print(f"stiction: {line}", file=sys.stderr)
    sys.exit(status)
