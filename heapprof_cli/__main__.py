"""``python -m heapprof_cli`` is ``heapprof``."""

from heapprof_cli.cli.entry import main

if __name__ == "__main__":
    main()
