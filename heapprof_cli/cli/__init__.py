"""The command line: the only part that prints, reads flags, and chooses the process's exit code."""
