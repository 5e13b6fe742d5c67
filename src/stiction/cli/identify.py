"""`stiction identify`: contact parameters with error bars from logs of motion and wrench."""

import sys
from pathlib import Path
from typing import Any

from stiction._base.errors import InputError
from stiction.cli.command import Answer, Output, command
from stiction.cli.options import Number, Text, argument, flag, option
from stiction.cli.terminal import say, show_table
from stiction.report import progress, working

_EVERY = 25  # samples between two lines of --online


@command("Contact parameters")
def identify(
    output: Output,
    logs: list[Path] | None = argument(
        None,
        "Logs (.csv .parquet .nc .mat .bag …) or directories; several are several tests.",
        metavar="[LOG]...",
        show_default=False,
    ),
    setup: str = option("", "FILE", "A setup (.toml, .yaml) or a built-in name."),
    online: bool = flag("Print estimates while rows arrive; LOG may be -."),
    design: bool = flag("Propose the motion that tells most; takes no LOG."),
    simulate: int = option(0, "N", "Make N virtual logs; takes no LOG."),
    export: Text = option(
        None,
        "ENGINE",
        "Give the contact as mujoco, drake, urdf or json has it; replay the log there.",
    ),
    mass: Number = option(None, "M", "Mass of the body in that engine [kg]."),
    draws: int = option(0, "N", "Also draw N sets of parameters from what the data leave open."),
    validate: Text = option(
        None, "LOGS", "Judge the numbers on other records: a file, or a pattern in quotes."
    ),
    laws: bool = flag("Rank contact laws by how well they predict data kept aside."),
    print_setup: bool = flag("Print a setup guessed from the columns of LOG, to be corrected."),
) -> Answer:
    """Find stiffness, damping and friction, with error bars, from logs of motion and force.

    Examples:
      stiction identify --setup single-point --simulate 3 --out bench
      stiction identify bench/test-*.csv --setup bench/setup.toml --plot
      stiction identify log.csv --setup test.toml --export mujoco --mass 2
      stiction identify fit/*.csv --setup test.toml --validate 'other/*.csv'
      stiction identify log.csv --setup test.toml --laws
      stiction identify --setup test.toml --design
      stiction identify --print-setup log.csv > test.toml
    """
    from stiction.identify import read_setup, setup_names

    if print_setup:
        return _print_setup(logs)
    if not setup:
        raise InputError(f"`--setup` is required: a file, or one of {', '.join(setup_names())}")
    if sum((online, design, simulate > 0)) > 1:
        raise InputError("`--online`, `--design` and `--simulate` exclude each other; choose one")
    if (design or simulate) and logs:
        raise InputError(f"`--design` and `--simulate` take no LOG, got '{logs[0]}'")
    if not (design or simulate) and not logs:
        raise InputError("`LOG` is required: a file, or several that are several tests")
    _check_export(export, mass, batch=not (online or design or simulate))
    chosen, folder = read_setup(setup)
    mode = "--simulate" if simulate else "--design" if design else ""
    # Each mode leaves the files of the others alone: logs are made in the one and read in another.
    output.open(Path(setup).stem, always=bool(mode), kind=f"identify {mode}".strip())
    if simulate:
        return _simulate(simulate, chosen, setup, folder, output)
    if design:
        return _design(chosen, folder, output)
    if online:
        return _online(logs or [], chosen, folder, output)
    return _identify(logs, chosen, folder, (export, mass), draws, _others(validate), laws=laws)


def _others(pattern: str | None) -> list[Path]:
    """The logs of a pattern; none without one."""
    if pattern is None:
        return []
    path = Path(pattern)
    found = [path] if path.exists() else sorted(Path(path.anchor or ".").glob(
        str(path.relative_to(path.anchor)) if path.anchor else pattern))  # fmt: skip
    if not found:
        raise InputError(f"`--validate` must name logs, got '{pattern}', which none matches")
    return found


def _print_setup(logs: list[Path] | None) -> Answer:
    from stiction.identify import guess_setup
    from stiction.tables import read_table

    if not logs or len(logs) != 1:
        raise InputError(f"`--print-setup` takes one LOG, got {len(logs or [])}")
    text = guess_setup(logs[0], list(read_table(logs[0]).columns))
    return Answer({"setup": text}, lambda: print(text, end=""))


def _check_export(engine: str | None, mass: float | None, *, batch: bool) -> None:
    if engine is None:
        if mass is not None:
            raise InputError("`--mass` is that of the body in an engine; add --export ENGINE")
        return
    from stiction.identify import check_engine

    check_engine(engine, mass)
    if not batch:
        raise InputError("`--export` needs a LOG read at once; leave out the other mode")


def _contact(chosen, option: str):
    from stiction.identify import ContactSetup

    if not isinstance(chosen, ContactSetup):
        raise InputError(f"`{option}` needs a setup of kind 'contact', got '{chosen.kind}'")
    return chosen


def _identify(
    logs, chosen, folder, export_to, draws: int, others: list[Path], *, laws: bool
) -> Answer:
    from stiction.identify import check_export, check_laws, export, identify_logs, validate

    (engine, mass), exported = export_to, None
    if laws:
        check_laws(chosen)
    if engine is not None:
        check_export(chosen, engine, mass)
    with working("identifying") as tell:
        found = identify_logs(logs, chosen, folder, laws=laws, tell=tell)
        if engine is not None:
            tell(f"replaying in {engine}")
            exported = export(found, chosen, engine, mass=mass, folder=folder)
        judged = validate(found, others, chosen, folder, tell=tell) if others else None
    result = found.to_json()
    if judged is not None:
        result["validation"] = judged.to_json()
    if exported is not None:
        result["export"] = exported.to_json()
    drawn = {n: x.tolist() for n, x in found.draws(draws).items()} if draws else {}
    if draws:
        result["draws"] = drawn

    def write(directory):
        from stiction.report.identify import write_identification

        if draws:
            rows = [dict(zip(drawn, row, strict=True)) for row in zip(*drawn.values(), strict=True)]
            directory.csv("draws.csv", rows)
        return write_identification(found, chosen.title or chosen.kind, directory, exported)

    return Answer(result, lambda: _show(found, chosen.title, exported, judged), write)


def _show(found, title: str, exported, judged) -> None:
    from stiction.report.identify import parameter_rows, test_statistics

    show_table(parameter_rows(found), title=title)
    if found.tests:
        rows = found.tests + test_statistics(found.tests)
        show_table([{k: _cell(v) for k, v in row.items()} for row in rows])
    say(f"residual {found.residual_rms:.4g} rms, condition number {found.condition:.3g}")
    for sentence in found.warnings:
        say(f"note: {sentence}")
    for sentence in found.corrections:
        say(f"allowed for: {sentence}")
    for sentence in found.caveats:
        say(f"taken for granted: {sentence}")
    if found.laws is not None:
        rows = [
            {"law": r["law"], "loss": _cell(r["loss"]),
             "behind": f"{r['behind']:.3g} ± {r['std']:.2g}" if r["behind"] else ""}
            for r in found.laws.rows
        ]  # fmt: skip
        show_table(rows, title="Laws, by what they foretell")
        say(found.laws.sentence)
    if judged is not None:
        rows = [
            {"parameter": n, "other records": _cell(judged.refitted[n].value),
             "apart [standard errors]": f"{z:+.2f}"}
            for n, z in judged.apart.items()
        ]  # fmt: skip
        show_table(rows, title="Other records, fitted alone")
        for name, value in judged.foretold.items():
            say(f"other records foretold: {name.replace('_', ' ')} {value:.4g}")
        for sentence in judged.warnings:
            say(f"note: {sentence}")
    if exported is None:
        return
    say(f"\n{exported.text}")
    for limit in exported.limits:
        say(f"note: {limit}")
    say(str(exported.replay))


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.5g}"


def _online(logs, chosen, folder, output: Output) -> Answer:
    from stiction.identify import OnlineIdentifier, follow, follow_lines, read_recording

    contact = _contact(chosen, "--online")
    if len(logs) != 1:
        raise InputError(f"`--online` follows one LOG, got {len(logs)}")
    identifier = OnlineIdentifier(contact, folder)
    if str(logs[0]) == "-":
        estimates = follow_lines(identifier, sys.stdin, contact)
    else:
        estimates = follow(identifier, read_recording(logs[0], contact))
    history = []
    if not output.json:
        print("  ".join(f"{n:>22}" for n in ("t [s]", *identifier.names)), flush=True)
    told = 0
    for time, values, std in estimates:
        history.append({"time": time, **values, **{f"{n}.std": s for n, s in std.items()}})
        if output.json:
            continue
        for _, change in identifier.changes[told:]:
            print(f"note: {change}; what came before is forgotten", flush=True)
        told = len(identifier.changes)
        if str(logs[0]) != "-" or identifier.samples % _EVERY == 0:
            print(_line(time, values, std), flush=True)
    if not history:
        raise InputError(
            f"no contact at all in '{logs[0]}': check units, frames and surfaces (row 1 on)"
        )
    last = history[-1]
    return Answer(
        {
            "parameters": {
                n: {"value": last[n], "std": last[f"{n}.std"]} for n in identifier.names
            },
            "samples": identifier.samples,
            "changes": [{"time": t, "what": what} for t, what in identifier.changes],
            "history": history,
        },
        lambda: say(_line(time, identifier.parameters, identifier.std)),
    )


def _line(time: float, values: dict[str, float], std: dict[str, float]) -> str:
    cells = (f"{v:.6g} ± {std[n]:.2g}" for n, v in values.items())
    return "  ".join(f"{cell:>22}" for cell in (f"{time:.6g}", *cells))


def _design(chosen, folder, output: Output) -> Answer:
    from stiction.identify import RobotSetup, design_test

    if isinstance(chosen, RobotSetup):
        return _design_robot(chosen, folder, output)
    contact = _contact(chosen, "--design")
    with working("searching for the best motion"):
        found = design_test(contact, folder)
    from stiction.report.identify import design_rows, write_design

    def show() -> None:
        show_table(design_rows(found))
        say(f"{found.seconds:.3g} s reach {100 * found.wanted_error:g} % in every parameter")
        if output.directory is not None:
            say(f"motion: {output.directory.path / 'motion.csv'}")

    return Answer(found.to_json(), show, lambda d: write_design(found, contact.title, d))


def _design_robot(chosen, folder, output: Output) -> Answer:
    from stiction.identify import design_robot
    from stiction.report.identify import write_robot_motion

    with working("searching for the best motion"):
        found = design_robot(chosen, folder)
    told = found.to_json()

    def show() -> None:
        rows = [
            {"joint": n, "from": f"{j['position'][0]:.3g}", "to": f"{j['position'][1]:.3g}",
             "speed": f"{j['speed']:.3g}", "acceleration": f"{j['acceleration']:.3g}"}
            for n, j in told["joints"].items()
        ]  # fmt: skip
        show_table(rows)
        say(
            f"errors {found.gain:.2g} times smaller than with the usual random motion;"
            f" condition number {found.condition:.3g}, not {found.usual_condition:.3g}"
        )
        if output.directory is not None:
            say(f"motion: {output.directory.path / 'motion.csv'}")

    return Answer(told, show, lambda d: write_robot_motion(found, chosen.title, d))


def _simulate(count: int, chosen, source: str, folder, output: Output) -> Answer:
    from stiction.identify import setup_text, testbed_of, virtual_test
    from stiction.report.identify import write_virtual_tests

    contact, directory = _contact(chosen, "--simulate"), output.directory
    assert directory is not None
    virtual_test(contact, folder)  # refuses before anything is written
    numbers = progress(range(count), "virtual tests")
    tests = (virtual_test(contact, folder, number=number) for number in numbers)
    truth = testbed_of(contact).truth
    logs = write_virtual_tests(directory, contact, tests, truth)
    kept = directory.text(f"setup{Path(source).suffix or '.toml'}", setup_text(source))

    def show() -> None:
        say(f"{count} logs in {directory.path}; try")
        say(f"stiction identify {directory.path}/test-*.csv --setup {kept}")

    return Answer({"truth": truth, "logs": logs}, show)
