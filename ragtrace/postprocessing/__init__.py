"""postprocessing."""
