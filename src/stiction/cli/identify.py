"""`stiction identify`: contact parameters with error bars from logs of motion and wrench."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stiction._errors import InputError
from stiction.cli.options import Force, Json, Out
from stiction.cli.output import OutputDirectory, print_json, text_table

_EVERY = 25  # samples between two lines of --online


def identify(
    logs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[LOG]...",
            help="Logs (.csv .parquet .nc .mat .bag …) or directories; several are several tests.",
            show_default=False,
        ),
    ] = None,
    setup: Annotated[
        str,
        typer.Option("--setup", metavar="FILE", help="A setup (.toml, .yaml) or a built-in name."),
    ] = "",
    online: Annotated[
        bool, typer.Option("--online", help="Print estimates while rows arrive (LOG may be -).")
    ] = False,
    design: Annotated[
        bool, typer.Option("--design", help="Propose the motion that tells most; takes no LOG.")
    ] = False,
    simulate: Annotated[
        int, typer.Option("--simulate", metavar="N", help="Make N virtual logs; takes no LOG.")
    ] = 0,
    engine: Annotated[
        str | None,
        typer.Option(
            "--export",
            metavar="ENGINE",
            help="The contact as mujoco, drake, urdf or json has it, and the log replayed there.",
        ),
    ] = None,
    mass: Annotated[
        float | None,
        typer.Option("--mass", metavar="M", help="Of the body in that engine [kg]."),
    ] = None,
    out: Out = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Find stiffness, damping and friction, with error bars, from logs."""
    from stiction.identify.read_setup import read_setup, setup_names

    if not setup:
        raise InputError(f"`--setup` is required: a file, or one of {', '.join(setup_names())}")
    if sum((online, design, simulate > 0)) > 1:
        raise InputError("`--online`, `--design` and `--simulate` exclude each other; choose one")
    if (design or simulate) and logs:
        raise InputError(f"`--design` and `--simulate` take no LOG, got '{logs[0]}'")
    if not (design or simulate) and not logs:
        raise InputError("`LOG` is required: a file, or several that are several tests")
    _check_export(engine, mass, batch=not (online or design or simulate))
    chosen, folder = read_setup(setup)
    name = Path(setup).stem
    directory = None
    if out is not None or design or simulate:
        directory = OutputDirectory(out or Path("out") / name, force=force)
    if simulate:
        return _simulate(simulate, chosen, setup, folder, directory, json)
    if design:
        return _design(chosen, folder, directory, json)
    if online:
        return _online(logs, chosen, folder, json)
    return _identify(logs, chosen, folder, directory, json, engine, mass)


def _check_export(engine: str | None, mass: float | None, *, batch: bool) -> None:
    if engine is None:
        if mass is not None:
            raise InputError("`--mass` is that of the body in an engine; add --export ENGINE")
        return
    from stiction.identify.export import check_engine

    check_engine(engine, mass)
    if not batch:
        raise InputError("`--export` needs a LOG read at once; leave out the other mode")


def _contact(chosen, option: str):
    from stiction.identify.setup import ContactSetup

    if not isinstance(chosen, ContactSetup):
        raise InputError(f"`{option}` needs a setup of kind 'contact', got '{chosen.kind}'")
    return chosen


def _identify(logs, chosen, folder, directory, json: bool, engine, mass) -> int:
    from stiction.identify.run_setup import identify_and_export, identify_logs
    from stiction.report.progress import working

    exported = None
    with working("identifying") as tell:
        if engine is None:
            found = identify_logs(logs, chosen, folder, tell=tell)
        else:
            found, exported = identify_and_export(
                logs, chosen, engine, folder, mass=mass, tell=tell
            )
    result = found.to_json()
    if exported is not None:
        result["export"] = exported.to_json()
    if directory is not None:
        with working("writing the report"):
            from stiction.report.identify import write_identification

            title = chosen.title or chosen.kind
            page = write_identification(found, title, directory, exported)
        result |= {"report": page, "files": directory.files}
    if json:
        print_json(result)
        return 0
    _print(found, chosen.title)
    if exported is not None:
        _print_export(exported)
    if directory is not None:
        print(f"report: {page}")
    return 0


def _print(found, title: str) -> None:
    from rich.console import Console

    from stiction.report.identify import parameter_rows, test_statistics

    console = Console()
    rows = parameter_rows(found)
    table = text_table(*rows[0], title=title, title_justify="left")
    for row in rows:
        table.add_row(*(str(v) for v in row.values()))
    console.print(table)
    if found.tests:
        tests = text_table(*found.tests[0])
        for row in found.tests + test_statistics(found.tests):
            tests.add_row(*(v if isinstance(v, str) else f"{v:.5g}" for v in row.values()))
        console.print(tests)
    print(f"residual {found.residual_rms:.4g} rms, condition number {found.condition:.3g}")
    for sentence in found.warnings:
        print(f"note: {sentence}")


def _print_export(exported) -> None:
    print(f"\n{exported.text}")
    for limit in exported.limits:
        print(f"note: {limit}")
    print(exported.replay)


def _online(logs, chosen, folder, json: bool) -> int:
    from stiction.identify.online import OnlineIdentifier, follow, follow_lines
    from stiction.identify.run_setup import read_recording

    contact = _contact(chosen, "--online")
    if len(logs) != 1:
        raise InputError(f"`--online` follows one LOG, got {len(logs)}")
    identifier = OnlineIdentifier(contact, folder)
    if str(logs[0]) == "-":
        estimates = follow_lines(identifier, sys.stdin, contact)
    else:
        estimates = follow(identifier, read_recording(logs[0], contact))
    history = []
    if not json:
        print("  ".join(f"{n:>14}" for n in ("t [s]", *identifier.names)))
    for time, values in estimates:
        history.append({"time": time, **values})
        if not json and identifier.samples % _EVERY == 0:
            cells = (f"{v:14.6g}" for v in (time, *values.values()))
            print("  ".join(cells), flush=True)
    if not history:
        raise InputError(
            f"no contact at all in '{logs[0]}': check units, frames and surfaces (row 1 on)"
        )
    last = history[-1]
    if json:
        parameters = {n: {"value": last[n]} for n in identifier.names}
        print_json({"parameters": parameters, "samples": identifier.samples, "history": history})
    else:
        print("  ".join(f"{v:14.6g}" for v in last.values()))
    return 0


def _design(chosen, folder, directory, json: bool) -> int:
    from stiction.identify.design import design_test
    from stiction.report.progress import working

    contact = _contact(chosen, "--design")
    with working("searching for the best motion"):
        found = design_test(contact, folder)
        from stiction.report.identify import design_rows, write_design

        page = write_design(found, contact.title, directory)
    if json:
        print_json({**found.to_json(), "report": page, "files": directory.files})
        return 0
    from rich.console import Console

    rows = design_rows(found)
    table = text_table(*rows[0])
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)
    print(f"{found.seconds:.3g} s reach {100 * found.wanted_error:g} % in every parameter")
    print(f"motion: {directory.path / 'motion.csv'}\nreport: {page}")
    return 0


def _simulate(count: int, chosen, source: str, folder, directory, json: bool) -> int:
    import json as json_module

    from stiction.identify.read_setup import setup_text
    from stiction.identify.testbed import testbed_of, virtual_test, write_log
    from stiction.report.progress import progress

    contact = _contact(chosen, "--simulate")
    virtual_test(contact, folder)  # refuses before anything is written
    logs = []
    for number in progress(range(count), "virtual tests"):
        test = virtual_test(contact, folder, number=number)
        path = directory.file(f"{test.recording.name}.csv")
        write_log(test.recording, contact, path)
        logs.append(path)
    kept = directory.file(f"setup{Path(source).suffix or '.toml'}")
    kept.write_text(setup_text(source), encoding="utf-8")
    truth = {"truth": testbed_of(contact).truth}
    directory.file("truth.json").write_text(json_module.dumps(truth, indent=2) + "\n")
    if json:
        print_json({**truth, "logs": logs, "files": directory.files})
    else:
        print(f"{count} logs in {directory.path}; try")
        print(f"stiction identify {directory.path}/test-*.csv --setup {kept}")
    return 0
