"""Side by side with other generators, on the same inventory, in the same minute; prints ratios."""
