"""`python -m bridge` is the `pagebridge` command."""

from bridge.cli import main

if __name__ == "__main__":
    main(prog_name="pagebridge")
