"""The built-in plugins: trainers, dataset formatters and rewards."""
