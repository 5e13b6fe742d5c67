"""`python -m manual`: write the generated pages; `gallery`, `choose`, `answers`: what they show."""

import sys
from collections.abc import Callable

from manual import (
    DOCS,
    answers,
    api,
    bibliography,
    choose,
    commands,
    errors,
    fields,
    gallery,
    numbers,
)

PAGES: dict[str, Callable[[], str]] = {
    "bibliography.md": bibliography.page,
    "reference/commands.md": commands.page,
    "reference/scenario.md": fields.scenario_page,
    "reference/setup.md": fields.setup_page,
    "reference/problem.md": fields.problem_page,
    "reference/errors.md": errors.page,
    "gallery.md": gallery.page,
    "choose.md": choose.page,
    "known-answers.md": answers.page,
    "numbers.md": numbers.page,
    **api.pages(),
}


def main(arguments: list[str]) -> None:
    """Write what was asked for."""
    if not arguments:
        for name, page in PAGES.items():
            path = DOCS / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page().rstrip() + "\n")
    elif arguments[0] == "gallery":
        gallery.main(arguments[1:])
    elif arguments[0] == "choose":
        choose.main()
    elif arguments[0] == "answers":
        answers.main()
    else:
        sys.exit(f"python -m manual [gallery [NAME…] | choose | answers], got {arguments}")


if __name__ == "__main__":
    main(sys.argv[1:])
