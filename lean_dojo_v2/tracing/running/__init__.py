"""Who elaborates the files: the embedded engine or the project's own toolchain."""
