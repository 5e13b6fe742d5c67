"""Flickinger 2011, by chapter: contact and impact, oblique impacts, energy, fixed steps."""

from stiction.reproduce import (
    flickinger_appendix,
    flickinger_contact,
    flickinger_energy,
    flickinger_oblique,
)

CHAPTERS = {
    "3": flickinger_contact,
    "4": flickinger_oblique,
    "5": flickinger_energy,
    "A": flickinger_appendix,
}
