"""The embedded engine: real Lean, compiled to WebAssembly, under the Node of a Python package."""
