"""The kinds of tests that can be identified: each has a setup and a function `identify`.

`contact` (with `contact_setup`): plates, from a body's pose and a wrench. `axis`: a driven axis.
`sliding`: a friction rig. `impacts`: tables of oblique impacts. `tosses`: a cube that slides after
it was thrown. `rollouts`: motion alone, followed by simulations. `stiction.identify.setups` lists
them by name.
"""
