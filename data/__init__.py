"""What ships with Jagstorm, written for it: the question bank, and concepts to start an idea from."""
