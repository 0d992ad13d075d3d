"""What each command of the command line does, apart from taking its arguments apart."""
