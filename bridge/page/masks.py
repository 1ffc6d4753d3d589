"""What of a page is a secret of its user, by its name: it is not told, and not even kept."""

import re
from collections.abc import Mapping
from typing import Any, Final

MASKED: Final = "(masked)"

_CREDENTIALS: Final = re.compile(
    r"(?:proxy-)?authori[sz]ation|(?:set-)?cookie2?"
    r"|.*(?:access|account|api|functions?|license|master|private|subscription)-?key.*"
    r"|.*(?:token|secret|passw|csrf|xsrf|credential|session|jwt).*"
    r"|.*\bauth(?:entication)?\b.*",
    re.IGNORECASE,
)
_SECRET_FIELDS: Final = frozenset(
    {"current-password", "new-password", "one-time-code", "cc-number", "cc-csc", "webauthn"}
)
"""Words of `autocomplete`."""
_SECRET_NAMES: Final = re.compile(
    r"passw|passphrase|\bpin\b|\botp|otp\b|\b[mt]fa\b|2fa|one.?time|totp|passcode"
    r"|(?:verif\w*|auth\w*|security|confirm\w*|sms|login).?code|\bdigit code\b|authenticator"
    r"|\bcode (?:that )?(?:we |was |is )?(?:just )?(?:sent|texted)|\bcvc|\bcvv|secret",
    re.IGNORECASE,
)


def mask_headers(headers: Mapping[str, Any], *, limit: int, limit_chars: int) -> dict[str, str]:
    """Headers as they may be kept: what logs a user in is masked.

    Args:
        limit: how many; the rest are left out.
        limit_chars: of one value; a longer one is cut.
    """
    kept: dict[str, str] = {}
    for name, value in list(headers.items())[:limit]:
        text = value if isinstance(value, str) else str(value)
        kept[name[:limit_chars]] = MASKED if _CREDENTIALS.fullmatch(name) else text[:limit_chars]
    return kept


def is_secret_field(kind: str, autocomplete: str, *names: str) -> bool:
    """Whether what a person writes into a field is for nobody else to read.

    Args:
        kind: the input's `type`.
        names: `name`, `id`, what it is called for a person, and what else says what it is for.
    """
    if kind.strip().lower() == "password" or _SECRET_FIELDS & set(autocomplete.lower().split()):
        return True
    return any(_SECRET_NAMES.search(re.sub(r"[_\-\s]+|(?<=[a-z])(?=[A-Z])", " ", name)) for name in names)
