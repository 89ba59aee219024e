"""The engine for inventories that outgrow one machine: the same column functions inside Spark (DESIGN 9)."""
