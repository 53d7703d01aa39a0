"""What runs Lean: processes, the native and the embedded engine, and the choice between them."""
