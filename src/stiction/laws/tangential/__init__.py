"""Friction laws of one contact: velocity, normal force and memory in, force out. A file a law."""
