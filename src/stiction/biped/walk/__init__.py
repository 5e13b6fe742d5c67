"""A walk to follow: a recorded stride on planned footsteps, all of the body."""
