"""The checks of scripts/check_docs."""
