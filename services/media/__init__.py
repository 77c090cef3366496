"""Media: whether bytes are an image we accept, where they lie, and how they are handed out."""
