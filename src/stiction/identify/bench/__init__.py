"""Tests before they are made: a virtual testbed, and the design of the most telling motion."""
