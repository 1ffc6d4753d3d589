"""What is a secret by its name, and what only looks like one."""

import pytest

from bridge.page.masks import is_secret_field, mask_headers


def masked(*names: str) -> list[str]:
    headers = mask_headers(dict.fromkeys(names, "value"), limit=100, limit_chars=100)
    return [name for name, value in headers.items() if value == "(masked)"]


@pytest.mark.feature("debugging.masks")
def test_headers_that_log_a_user_in_are_masked():
    names = [
        "Authorization",
        "authorisation",
        "Proxy-Authorization",
        "Cookie",
        "cookie2",
        "Set-Cookie",
        "X-Auth-Token",
        "X-API-Key",
        "apikey",
        "X-CSRF-Token",
        "x-xsrf",
        "X-Amz-Security-Token",
        "My-Session-Id",
        "x-jwt-assertion",
        "X-Password",
        "x-client-secret",
        "Ocp-Apim-Subscription-Key",
        "X-Access-Key",
        "x-functions-key",
        "Authentication",
        "X-Auth",
    ]

    assert masked(*names) == names


def test_other_headers_are_told():
    assert (
        masked("Accept", "Content-Type", "Author", "X-Request-Id", "Sec-Fetch-Mode", "ETag", "WWW-Authenticate") == []
    )


def test_headers_are_bounded():
    headers = mask_headers({f"n{number}": "x" * 50 for number in range(9)}, limit=3, limit_chars=10)

    assert headers == {"n0": "x" * 10, "n1": "x" * 10, "n2": "x" * 10}


def test_a_value_that_is_no_text_is_one_all_the_same():
    assert mask_headers({"Age": 3, "Cookie": None}, limit=9, limit_chars=9) == {"Age": "3", "Cookie": "(masked)"}


@pytest.mark.parametrize(
    ("kind", "autocomplete", "name"),
    [
        ("password", "", ""),
        (" PASSWORD ", "", ""),
        ("text", "one-time-code", ""),
        ("text", "section-x shipping New-Password", ""),
        ("text", "cc-csc", ""),
        ("tel", "", "otp"),
        ("text", "", "otp_1"),
        ("text", "", "userOtp"),
        ("text", "", "sms-code"),
        ("text", "", "Verification code"),
        ("text", "", "authenticatorCode"),
        ("text", "", "twoFactor2FA"),
        ("text", "", "mfa-token"),
        ("text", "", "oneTimePasscode"),
        ("text", "", "PIN"),
        ("text", "", "card-cvc"),
        ("text", "", "confirmPassword"),
        ("text", "", "client_secret"),
        ("text", "", "Enter the 6-digit code"),
        ("text", "", "Code we sent to you"),
        ("text", "", "The code from your authenticator app"),
    ],
)
def test_fields_for_secrets_are_known(kind: str, autocomplete: str, name: str):
    assert is_secret_field(kind, autocomplete, name)
    assert is_secret_field(kind, autocomplete, "plain", name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "email",
        "shopping",
        "pinned",
        "spinner",
        "zip-code",
        "postcode",
        "country code",
        "5-digit postcode",
        "Discount code",
        "Area code",
        "Country code of the sender",
        "QR code",
        "Code",
        "promo_code",
        "option",
        "hotpink",
    ],
)
def test_fields_that_only_look_like_it_are_not(name: str):
    assert not is_secret_field("text", "given-name", name)
