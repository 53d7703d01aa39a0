"""From Lean's elaboration to records: declarations, tactics, premises."""
