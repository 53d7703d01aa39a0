"""From what Lean elaborated to records: declarations, tactics, premises."""
