"""What all commands share: where they write, what they answer, and how the answer is given.

A command is a function that takes an `Output` and its own arguments, and returns an `Answer`. Its
docstring is its help; what stands there under "Examples:" ends the help page. Options that several
commands share are a dataclass of `member`s, which is one parameter. `register` adds the options
that every command has, calls the function, writes its report and prints its answer.
"""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import typer
from typer.models import OptionInfo

from stiction._base.errors import RunError
from stiction.cli.options import FORCE, JSON, OUT, PLOT, as_written
from stiction.cli.terminal import say
from stiction.report import OutputDirectory, json_text, working

INTERRUPTED = 130  # exit status after Ctrl-C, as shells have it

Writes = Literal["never", "asked", "always"]
F = TypeVar("F", bound=Callable[..., "Answer"])


@dataclass
class Output:
    """Where a command writes, and for whom it prints."""

    command: str
    out: Path | None = None
    plot: bool = False
    force: bool = False
    json: bool = False
    directory: OutputDirectory | None = None

    def open(self, name: str, *, always: bool = False, kind: str = "") -> OutputDirectory | None:
        """The directory to write into, checked before any work; None if nothing is to be written.

        Args:
            name: Of a directory under `out`, if the user gave no other.
            always: Whether to write even if the user did not ask for it.
            kind: Of a command that writes different files in different modes, which one.
        """
        if self.out is not None or self.plot or always:
            self.directory = OutputDirectory(
                self.out or Path("out") / name, command=kind or self.command, force=self.force
            )
        return self.directory


@dataclass
class Answer:
    """What a command found."""

    data: dict[str, Any]  # plain data, for `--json`
    show: Callable[[], None]  # prints it for people
    # writes it, with figures and a page, if there is a directory; returns the page
    write: Callable[[OutputDirectory], Path | None] | None = None
    failure: str = ""  # why the command failed nevertheless
    status: int = 1  # with which it then ends


class CommandError(RunError):
    """A command failed on the way, and has part of an answer all the same."""

    def __init__(self, message: str, data: dict[str, Any], status: int):
        super().__init__(message)
        self.data, self.status = data, status


def command(panel: str, *, writes: Writes = "asked") -> Callable[[F], F]:
    """Mark a function as a command: under which heading it stands, and whether it writes."""

    def mark(function: F) -> F:
        function.panel, function.writes = panel, writes  # type: ignore[attr-defined]
        return function

    return mark


def register(app: typer.Typer, function: Callable[..., Answer]) -> None:
    """Add a command to the command line, with the options that every command has."""
    name = function.__name__.rstrip("_")
    writes: Writes = function.writes  # type: ignore[attr-defined]
    shared: dict[str, tuple[Any, Any]] = {}
    if writes == "asked":
        shared["plot"] = (bool, PLOT)
    if writes != "never":
        shared |= {"out": (Path | None, OUT), "force": (bool, FORCE)}
    shared["json"] = (bool, JSON)

    declared: dict[str, tuple[Any, Any]] = {}
    groups: dict[str, type] = {}  # dataclasses of options that commands share
    for p in list(inspect.signature(function).parameters.values())[1:]:
        if is_dataclass(p.annotation):
            groups[p.name] = p.annotation  # type: ignore[assignment]
            declared |= {f.name: (f.type, f.metadata["declared"]) for f in fields(p.annotation)}
        else:
            declared[p.name] = (p.annotation, p.default)
    declared |= shared

    def call(**arguments: Any) -> None:
        output = Output(name, **{key: arguments.pop(key) for key in shared})
        for key, group in groups.items():
            arguments[key] = group(**{f.name: arguments.pop(f.name) for f in fields(group)})
        _give(function(output, **arguments), output)

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                key,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=annotation,
                default=_named(key, setting),
            )
            for key, (annotation, setting) in declared.items()
        ]
    )
    call.__annotations__ = {key: annotation for key, (annotation, _) in declared.items()}
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition("Examples:\n")
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    app.command(
        name,
        help=as_written("\n\n".join(paragraphs)),
        epilog=as_written(f"Examples:\n{examples}") if examples else None,
        rich_help_panel=function.panel,  # type: ignore[attr-defined]
    )(call)


def _named(name: str, setting: Any) -> Any:
    """An option under the name of its parameter; typer would add a --no-… to every flag."""
    if not isinstance(setting, OptionInfo) or setting.param_decls:
        return setting
    own = copy.copy(setting)
    own.param_decls = (f"--{name.rstrip('_').replace('_', '-')}",)
    return own


def _give(answer: Answer, output: Output) -> None:
    """Write what is to be written, then print the answer."""
    failure, page = answer.failure, None
    if output.directory is not None and answer.write is not None:
        try:
            with working("writing the report"):
                page = answer.write(output.directory)
        except RunError as error:  # the answer itself is not lost
            failure = f"{failure} {error}".strip()
    data = dict(answer.data)
    if output.directory is not None and output.directory.files:
        data |= {"report": page} if page is not None else {}
        data["files"] = output.directory.files
    if output.json:
        if not failure:
            print(json_text(envelope(output.command, data)))
    else:
        answer.show()
        if page is not None:
            say(f"report: {page}")
    if failure:
        raise CommandError(failure, data, answer.status)


def envelope(
    command: str, data: dict[str, Any], error: dict[str, str] | None = None
) -> dict[str, Any]:
    """The JSON object of every command: what it is, whether it succeeded, and the answer."""
    import stiction

    head: dict[str, Any] = {
        "schema": f"stiction.{command}/1",
        "command": command,
        "version": stiction.__version__,
        "success": error is None,
    }
    if error is not None:
        head["error"] = error
    return head | {key: value for key, value in data.items() if key not in head}
