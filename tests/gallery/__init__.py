"""The gallery: motions with known answers, run by every engine and law that claims them."""
