"""Models from a hub, as files in the cache."""
