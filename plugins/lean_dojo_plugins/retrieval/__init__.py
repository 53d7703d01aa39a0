"""Dense premise retrieval with lifelong learning."""
