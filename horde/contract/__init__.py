"""What the outside can feel: vocabulary, limits, reasons, prices. Pure: no clock, no store, no wire."""
