"""What trainers read: splits, a corpus and metadata, written and read as streams."""
