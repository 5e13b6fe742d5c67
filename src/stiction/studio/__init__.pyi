"""What the folder has for others."""

from stiction.studio.bench import Bench as Bench
from stiction.studio.knobs import Knob as Knob
from stiction.studio.knobs import knobs_of as knobs_of
from stiction.studio.server import start_studio as start_studio
