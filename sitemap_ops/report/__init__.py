"""What happened to every row: report.json, and its summary for people."""
