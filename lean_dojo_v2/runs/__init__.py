"""Records of a training run: files, metrics, forgetting, environment and figures."""
