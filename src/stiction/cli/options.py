"""Options that mean the same in every command."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write data, tables, figures and a report here."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Write into DIR even if stiction did not make it.")
]
