"""OpenSim's models, read directly: what kinematics and inertia need of them."""

from stiction.biped.opensim.read import read_contact_spheres, read_osim
from stiction.biped.opensim.skeleton import Skeleton

__all__ = ["Skeleton", "read_contact_spheres", "read_osim"]
