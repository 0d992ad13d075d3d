"""Source to facts: an abstract run of the program over values, storages, aliases and grad mode."""
