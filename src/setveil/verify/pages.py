"""The page of a release that an earlier version wrote. Nobody can draw it again, so only its frame is checked.

The policy in its head lets a browser run one known script and load nothing. What a policy does not cover is refused:
redirections, and links that leave the page. Labels on a page are escaped, so that every ``<`` outside the script opens
a tag, and every quote in a tag is double.
"""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

SCRIPTS = frozenset({"8x71yr/KjzYvxdZl9VHpLxm46eQZcZunP72Cky7PCnM="})  # SHA-256 of the scripts that pages ever had
_HASH = "'sha256-([A-Za-z0-9+/]{43}=)'"
_HEAD = re.compile(
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
    f'style-src {_HASH}; script-src {_HASH}">\n<meta name="viewport" '
)
_TAG = re.compile("<([^>]*)")
_LEADS_AWAY = re.compile(r"meta|script|.*\bhref\s*=(?!\"#)", re.IGNORECASE | re.DOTALL)


def check_earlier_page(page: bytes, certificate: Mapping[str, Any]) -> list[str]:
    """What no page of an earlier version is like, or whether it is about another release; at most one line."""
    text = page.decode("utf-8", errors="replace")
    before, _, rest = text.partition("<script>")
    script, _, after = rest.partition("</script>")
    head = _HEAD.match(before)
    if head is None or head[2] not in SCRIPTS or b64encode(sha256(script.encode()).digest()).decode() != head[2]:
        return ["report.html: does not begin as pages of setveil do, which keep out foreign scripts and content."]
    tags = _TAG.findall((before + after)[head.end() :])
    if any("'" in tag or tag.count('"') % 2 or _LEADS_AWAY.match(tag) for tag in tags):
        return ["report.html: has a tag that pages of setveil do not have, such as a link to another page."]
    said = html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")  # before signs of percent
    others = [digest for name, digest in certificate["files"].items() if name != "report.html"]
    if not all(one in said for one in (certificate["guarantee"].replace("\N{NO-BREAK SPACE}", " "), *others)):
        return ["report.html: is not about this release: it lacks the guarantee, or the SHA-256 of a file."]
    return []
