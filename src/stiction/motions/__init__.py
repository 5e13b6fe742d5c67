"""All possible motions of a body in frictional contact (erdmann)."""
