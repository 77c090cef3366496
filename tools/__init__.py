"""The workshop: what builds and checks the tree. Not shipped, imported by nothing that is."""
