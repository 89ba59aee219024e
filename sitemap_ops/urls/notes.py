"""What is odd about a canonical URL and yet not rewritten: found with RE2 over the whole column."""

from __future__ import annotations

from typing import Final

SESSION_NAMES: Final = (
    "jsessionid",
    "phpsessid",
    "aspsessionid",
    "asp.net_sessionid",
    "sessionid",
    "session_id",
    "sessid",
    "cfid",
    "cftoken",
    "oscsid",
    "zenid",
    "sid",
)
"""Query parameters that hold a session (P-51), lower-case; some have a suffix, and `sid` has to hold 16 hex digits."""

SESSION_ID: Final = (
    r"(?i);jsessionid="
    r"|^[^?]*\?(?:[^&]*&)*(?:(?:jsessionid|phpsessid|aspsessionid[a-z]*|asp\.net_sessionid|session_?id|sessid|cfid"
    r"|cftoken|oscsid|zenid)=|sid=[0-9a-f]{16})"
    r"|^[^?]*/\([a-z]\([a-z0-9]{24}\)\)/"
)
"""P-51; the last is ASP.NET's cookieless form."""

URL_IN_PATH: Final = r"^[^?]*?//[^?]*(?::|%3A)//"
"""A base that was joined to an absolute URL (C-30)."""

LOOKS_LIKE_HOST: Final = (
    r"(?i)^(?:www\.[^/?#]*\.[^/?#]+(?:[/?#]|$)"
    r"|[^/?#.]+(?:\.[^/?#.]+)*\.(?:[a-z]|[^\x00-\x7F]){2,}/"
    r"|[^/?#.]+(?:\.[^/?#.]+)*\.(?:com|net|org|info|edu|gov)(?:[?#]|$)"
    r"|https?(?:%3A|;)?//[^/?#]*\.)"
)
"""A relative reference whose author may have forgotten `https://`, or broken it (DESIGN 5, C-38).

`index.html` is none, `shop.example/a` is one.
"""

PERCENT_CONTROL: Final = r"%(?:[01][0-9A-F]|7F)"
"""U-03."""

_TAIL = "%[89AB][0-9A-F]"
UTF_8_CHARACTER = (
    rf"%(?:C[2-9A-F]|D[0-9A-F]){_TAIL}"
    rf"|%E0%[AB][0-9A-F]{_TAIL}"
    rf"|%(?:E[1-9A-CEF]{_TAIL}|ED%[89][0-9A-F]){_TAIL}"
    rf"|%F0%[9AB][0-9A-F]{_TAIL}{_TAIL}"
    rf"|%F[1-3]{_TAIL}{_TAIL}{_TAIL}"
    rf"|%F4%8[0-9A-F]{_TAIL}{_TAIL}"
)
"""The well-formed byte sequences of Unicode's table 3-7, beyond ASCII."""

PERCENT_UTF_8: Final = rf"^(?:[^%]|%[0-7]|{UTF_8_CHARACTER})*$"
"""Every triplet belongs to UTF-8 text: what fails it is `percent-not-utf8` (P-28, U-16)."""

DOUBLE_ENCODED: Final = rf"(?i)%25(?:[0-7][0-9A-F])|(?:{UTF_8_CHARACTER.replace('%', '%25')})"
"""`%25` and what makes a triplet of UTF-8 text once it is decoded (U-14)."""

EMPTY_QUERY: Final = r"^[^?]*\?$"
"""U-31."""

ENTITY: Final = r"(?i)&(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-f]+);"
"""What is left of a value that was escaped for XML and not read back (P-22); a number's "#" begins a fragment."""
