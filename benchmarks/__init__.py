"""Speed and accuracy, measured side by side. `python -m benchmarks [NAME ...]`."""
