"""What a training run leaves: its files, metrics, forgetting, environment and figures."""
