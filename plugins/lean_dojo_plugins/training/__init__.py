"""What every trainer stands on: runs that go on, rows, devices, metrics."""
