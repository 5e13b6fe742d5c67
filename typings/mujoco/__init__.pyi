# MuJoCo's names come from a binary module that ships no types: to pyright they are of any type.
from typing import Any

def __getattr__(name: str) -> Any: ...
