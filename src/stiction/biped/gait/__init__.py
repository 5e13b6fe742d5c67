"""From a trial to the clinic: joint moments, powers and reactions, events, cycles, uncertainty."""
