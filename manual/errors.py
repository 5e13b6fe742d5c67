"""The page of error messages: every one that the program can raise, taken from its source."""

import ast
from collections.abc import Iterator
from pathlib import Path

from manual import ROOT, head

RAISED = {"InputError": 2, "RunError": 1, "CommandError": 1}


TO_DO = {
    "max_steps_reached": (
        "Often the motion is stiff (servo gains, contact stiffness) or has very many "
        "impacts. Look at the last second in the report. Raise `solver.max_steps`, loosen "
        "`solver.rtol`, or take `contact.law=stepping`."
    ),
    "events_used_up": (
        "Something chatters or rattles. Raise `contact.rest_speed`, or `contact.max_events`"
        " if all these events are real; `contact.law=stepping` has no events."
    ),
    "not_finite": (
        "Masses near zero, forces that grow without bound, or a control that is unstable. "
        "Run without control first; then lower `solver.rtol`."
    ),
    "too_many_contacts": (
        "Name the points that matter in `contact.points`: a box lies as well on three corners."
    ),
    "cascade": (
        "Rigid friction can have no solution (Painlevé). `stiction motions SCENE --from` "
        "that state shows whether it does. Try another `contact.impact`, less friction, or "
        "`contact.law=compliant`."
    ),
    "penetrated": (
        "The pair is named in the message. If the bodies are meant to pass through each "
        "other, say so in the model (`contype`, `conaffinity`, `<exclude>`); otherwise name"
        " what touches in `contact.points`."
    ),
    "energy_gained": (
        "Fixed steps do not resolve a stiff tendon, control or motor: a step must be shorter than"
        " 2 √(m / k). Joint springs, dampers and servos are implicit and need not be resolved."
    ),
    "began_inside": (
        "Raise the start, or let `start.resolve = true` move it out; it says by how much."
    ),
}


def page() -> str:
    """All results of runs, then all messages by the folder that raises them."""
    lines = [head("errors") + "\n".join(_results()) + "\n"]
    messages: dict[str, dict[str, int]] = {}
    for path in sorted((ROOT / "src" / "stiction").rglob("*.py")):
        folder = path.relative_to(ROOT / "src" / "stiction").parts[0].removesuffix(".py")
        for text, status in raised(path):
            messages.setdefault(folder, {}).setdefault(text, status)
    lines.append("## All messages\n")
    for folder, found in messages.items():
        lines += [f"### {TITLES.get(folder, folder)}\n", "| message | exit |", "| --- | --- |"]
        lines += [f"| {_cell(text)} | {status} |" for text, status in sorted(found.items())]
        lines.append("")
    return "\n".join(lines)


TITLES = {
    "_base": "Files of fields, and checks that all parts share",
    "agility": "Capability, postures, jumps",
    "biped": "People: motion files, models, gait, ground reactions",
    "cli": "The command line",
    "complementarity": "Complementarity problems",
    "control": "Controls",
    "engines": "Simulation",
    "identify": "Identification",
    "impacts": "Impacts",
    "interop": "Other engines' parameters",
    "laws": "Laws of contact",
    "mechanism": "Models",
    "motions": "All possible motions",
    "mujoco": "`stiction.mujoco`",
    "report": "Writing",
    "reproduce": "Documents",
    "scenes": "Scenarios",
    "studies": "Studies",
    "studio": "The studio",
    "surfaces": "Contacts and surfaces",
    "tables": "Tables of measured data",
}


def _results() -> Iterator[str]:
    from stiction.engines import RESULTS

    for name, to_do in TO_DO.items():
        yield f"| `{name}` | {_cell(str(RESULTS[getattr(RESULTS, name)]))} | {_cell(to_do)} |"


def raised(path: Path) -> Iterator[tuple[str, int]]:
    """The messages of a file with the exit status that each leads to."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in RAISED and node.args:
            text = _template(node.args[0])
            if text.replace("‹…›", "").strip(" .,:;'"):
                yield " ".join(text.split()), RAISED[name]
        elif name == "unknown" and len(node.args) == 3 and isinstance(node.args[0], ast.Constant):
            yield f"no {node.args[0].value} '‹…›'; did you mean '‹…›'? (known: ‹…›)", 2


def _template(node: ast.expr) -> str:
    """A message with ‹…› for what it fills in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_template(p) for p in parts)
        case ast.FormattedValue(value=ast.Name(id=name)):
            return f"‹{name}›"
        case ast.FormattedValue():
            return "‹…›"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _template(left) + _template(right)
        case ast.IfExp(body=body, orelse=orelse):
            return f"{_template(body)} / {_template(orelse)}"
        case _:
            return "‹…›"


def _cell(text: str) -> str:
    """Text for a cell of a table: what Markdown would take for its own is escaped, but in code."""
    parts = text.replace("|", "\\|").split("`")
    for i in range(0, len(parts), 2):
        plain = parts[i].replace("<", "&lt;")
        for sign in "*[_":
            plain = plain.replace(sign, f"\\{sign}")
        parts[i] = plain
    return " ".join("`".join(parts).split())
