"""From samples to parameters.

`samples` says which samples may be judged, `estimate` fits them on the paths as they are (through
`regression`, by variable projection), `joint` fits paths and parameters together (through
`errors_in_variables`), `online` follows a stream (through `recursive`); `least_squares` and
`robust` are the tools.
"""
