"""What others have written, read and written: the public benchmark's result files first."""
