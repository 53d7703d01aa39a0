"""The verdict as a service: tactics, proofs and files are judged over HTTP, rewards are scored."""
