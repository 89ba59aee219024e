"""What a site's files are now, what they will be, and the way from one to the other."""
