"""What ships with Jagstorm, written for it: the banks of questions and of seeds, and concepts to start an idea from."""
