"""A run of the user's own program to evidence; the only folder that imports torch, and only when it runs."""
