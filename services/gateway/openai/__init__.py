"""The OpenAI-compatible front under /v1: translates, submits, follows, and gives the reply in OpenAI's shapes."""
