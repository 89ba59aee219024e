"""`python -m sitemap_ops`."""

from sitemap_ops.cli import main

raise SystemExit(main())
