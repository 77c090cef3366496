"""Admission: who may ask, for what, at what price."""
