"""Verification: screening, tactics, whole proofs.

A server needs the repository as ``project_path`` if the file imports from it. A ``timeout`` is in
seconds, for each call of Lean. If it is exceeded, or the engine dies, every function here raises
:class:`~lean_dojo_v2.lean.errors.EngineLostError`, unless documented as a verdict.
"""
