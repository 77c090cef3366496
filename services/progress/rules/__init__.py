"""What progress decides, without clocks, stores or wires."""
