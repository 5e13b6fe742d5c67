"""`stiction version`: which versions are installed."""

from stiction.cli.command import Answer, Output, command
from stiction.cli.terminal import say

PACKAGES = ("jax", "mujoco", "numpy", "scipy", "diffrax", "xarray")


@command("Look", writes="never")
def version(output: Output) -> Answer:
    """Print the versions of stiction, of Python and of the packages it computes with.

    Examples:
      stiction version
      stiction version --json
    """
    import platform
    from importlib.metadata import version as installed

    import stiction

    found = {"python": platform.python_version()} | {name: installed(name) for name in PACKAGES}

    def show() -> None:
        say(f"stiction {stiction.__version__}")
        for name, number in found.items():
            say(f"{name} {number}")

    return Answer({"packages": found}, show)
