"""The checks of scripts/tidy. Each has check(tree) -> list of "file:line: what is wrong"."""
