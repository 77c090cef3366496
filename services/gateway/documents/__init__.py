"""The OpenAPI document: written by hand beside the routes, since bodies are read by hand too."""
