"""The project to trace: git, lakefile, modules, workspace."""
