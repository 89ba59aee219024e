"""Any sitemap or index, in whatever dialect it was written, as rows.

`mend` makes what is nearly XML well-formed, `rows` turns elements into columns, `files` goes from a location to all
rows of it. Only the container is repaired, and each repair is counted by a stable code; what a value means is for the
cleaning that follows to judge. How bytes are fetched, unpacked, decoded and parsed, and where hostile files end, is
the validator's.
"""
