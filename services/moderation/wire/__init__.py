"""Between the proto and the words of the domain, one module for each family of RPCs."""
