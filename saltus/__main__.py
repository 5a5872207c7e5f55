"""``python -m saltus`` is the command ``saltus``."""

from saltus.cli.main import main

if __name__ == "__main__":
    main()
