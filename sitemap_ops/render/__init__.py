"""Entries and shards into bytes: XML, text, the index, gzip. Pure functions; nothing here reads a clock or a disk."""
