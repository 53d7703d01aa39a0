"""Common code of trainers: resumable runs, rows, devices, metrics."""
