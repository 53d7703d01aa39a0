"""Whether to believe it: screening, tactics, whole proofs.

Wherever a server is asked about a file, it needs the repository as ``project_path`` if the file
imports from it. A ``timeout`` is the seconds that Lean may take for each call. If that is over, or
the engine dies, every function here raises :class:`~lean_dojo_v2.lean.errors.EngineLostError`,
unless it says that it gives a verdict.
"""
