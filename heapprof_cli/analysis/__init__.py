"""What measurements mean together: growth over cycles, noise over runs, limits, baselines. Knows no phone."""
