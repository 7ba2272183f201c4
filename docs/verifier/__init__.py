"""Verifies signed documents of docs/filedrop-format.md and docs/consensus.md; written from those pages alone."""
