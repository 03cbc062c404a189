"""What can be used here and now, without having been named anywhere."""
