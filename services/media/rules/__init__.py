"""What media decides: caps, forms of URLs, names of objects. Pure."""
