"""What is built on Lean and on learning: servers, environments and reports, offered as commands."""
