"""Flickinger 2011, by chapter: contact, oblique impacts, energy, agility, fixed steps."""

# Figures come in the order in which their chapters are imported.
# isort: off
from stiction.reproduce import flickinger_contact
from stiction.reproduce import flickinger_oblique
from stiction.reproduce import flickinger_energy
from stiction.reproduce import flickinger_agility
from stiction.reproduce import flickinger_appendix
# isort: on

CHAPTERS = {
    "3": flickinger_contact,
    "4": flickinger_oblique,
    "5": flickinger_energy,
    "6": flickinger_agility,
    "A": flickinger_appendix,
}
