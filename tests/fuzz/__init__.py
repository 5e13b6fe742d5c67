"""Mutated files of every kind, in this process: each is read, or refused in one line, at once."""
