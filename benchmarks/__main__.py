"""Run the benchmarks named on the command line, or all of them."""

import importlib
import sys
from pathlib import Path

NAMES = sorted(p.stem.removeprefix("bench_") for p in Path(__file__).parent.glob("bench_*.py"))

for name in sys.argv[1:] or NAMES:
    if name not in NAMES:
        sys.exit(f"no benchmark '{name}' (known: {', '.join(NAMES)})")
    print(f"## {name}\n", flush=True)
    importlib.import_module(f"benchmarks.bench_{name}").main()
    print(flush=True)
