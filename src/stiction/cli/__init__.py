"""The command line. One file a command; heavy imports happen inside the commands."""
