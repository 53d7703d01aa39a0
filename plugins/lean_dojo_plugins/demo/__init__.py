"""What ``make demo`` needs besides the product: a model that is small enough to train on the spot."""
