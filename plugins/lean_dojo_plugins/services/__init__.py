"""Services on top of Lean and learning: servers, environments and reports."""
