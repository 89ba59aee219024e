"""What makes a URL canonical: the policy of DESIGN 5, over whole columns.

    loc -> trim -> resolve -> scheme and host -> percent-encode -> dot segments -> options -> filters -> canonical loc

Which characters, hosts and schemes are refused, and what is changed or only noted, has a stable code (`codes`).
"""

from sitemap_ops.urls.canonical import MAX_LENGTH, canonicalize
from sitemap_ops.urls.codes import CHANGES, NOTES, REASONS, change_codes, count_changes
from sitemap_ops.urls.policy import UrlPolicy

__all__ = ["CHANGES", "MAX_LENGTH", "NOTES", "REASONS", "UrlPolicy", "canonicalize", "change_codes", "count_changes"]
