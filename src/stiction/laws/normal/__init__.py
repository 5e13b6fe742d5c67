"""Normal laws of one compliant contact: depth and its rate in, force out. A file a law."""
