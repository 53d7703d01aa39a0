"""Elaboration of the files, by the embedded engine or the project's own toolchain."""
