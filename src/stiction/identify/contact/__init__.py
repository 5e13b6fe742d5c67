"""The contact model of a test: shapes and plates, depth of contact, the wrench as a regression.

`model` is the law (ma), with `geometry`, `shapes`, `plates`, `bristles` and `inertia` below it;
`along` evaluates it at many samples; `from_setup` builds it and `prune` thins it; `parameters` goes
to and from the parameters that were asked for.
"""
