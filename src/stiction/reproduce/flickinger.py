"""Flickinger 2011, by chapter: models, contact, oblique impacts, energy, agility, fixed steps."""

# Items come in the order in which their chapters are imported.
# isort: off
from stiction.reproduce import flickinger_models as flickinger_models
from stiction.reproduce import flickinger_contact as flickinger_contact
from stiction.reproduce import flickinger_oblique as flickinger_oblique
from stiction.reproduce import flickinger_energy as flickinger_energy
from stiction.reproduce import flickinger_agility as flickinger_agility
from stiction.reproduce import flickinger_appendix as flickinger_appendix
from stiction.reproduce import flickinger_tables as flickinger_tables
# isort: on
