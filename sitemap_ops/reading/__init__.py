"""Any sitemap, index, text file or feed, from where it lies to columns of what it holds.

`opening` finds the place, `places` and `web` open its files; `unpack`, `decode` and `reader` (with `sax` and `blocks`)
or `text` make columns of their bytes, in bounded memory whatever they hold. What is odd about a file is told to a
`record`; what ends the reading is a `Stop`. What the columns mean is for those who read: the validator, and `dialects`.
"""
