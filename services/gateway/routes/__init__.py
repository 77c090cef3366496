"""One file per family of public addresses: read the request, call one service, answer."""
