"""Many engines: on this machine or over a Ray cluster, with one schedule."""
