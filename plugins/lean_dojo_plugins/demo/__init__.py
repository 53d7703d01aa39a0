"""What the demo needs besides the product: a model small enough to train on the spot."""
