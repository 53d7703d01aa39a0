"""The client of one engine: server, goals, environment, frontend, and their records."""
