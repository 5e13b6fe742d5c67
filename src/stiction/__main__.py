"""`python -m stiction`: the command line."""

from stiction.cli.app import main

if __name__ == "__main__":
    main()
