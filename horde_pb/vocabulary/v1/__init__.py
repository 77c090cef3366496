"""Generated from proto/ by `./run proto`; never edited."""
