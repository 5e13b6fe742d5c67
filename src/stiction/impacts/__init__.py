"""Velocities before to velocities after."""
