"""The shapes of accounts, shared keys and gifts, as JSON Schema."""

from collections.abc import Mapping

from services.gateway.documents.shapes import (
    ANY_OBJECT,
    FLAG,
    NUMBER,
    TEXT,
    TEXTS,
    UUID,
    WHOLE,
    Schema,
    array,
    between,
    choice,
    maybe,
    shape,
    whole,
)

LIST_QUERY: dict[str, Schema] = {"page": whole(1, 2**31 - 1, 1), "sort": choice("kudos", "age")}
USAGE_QUERY: dict[str, Schema] = {"days": whole(1, 366, 30), "sharedkey": UUID}

_NAME: Schema = {"type": "string", "minLength": 3, "maxLength": 100, "description": "At most 30 are taken."}
_CONTACT: Schema = {"type": "string", "minLength": 5, "maxLength": 500}
_COMMENT: Schema = {"type": "string", "maxLength": 5000}
_RECORDS = shape(
    usage=ANY_OBJECT, contribution=ANY_OBJECT, fulfillment=ANY_OBJECT, request=ANY_OBJECT, style=ANY_OBJECT
)
_KUDOS_DETAILS = shape(
    accumulated=NUMBER,
    gifted=NUMBER,
    donated=NUMBER,
    admin=NUMBER,
    received=NUMBER,
    recurring=NUMBER,
    awarded=NUMBER,
    styled=NUMBER,
)
_ROLE_NAMES = ("moderator", "trusted", "flagged", "customizer", "vpn", "service", "education", "special")
_CHANGED: Mapping[str, Schema] = {
    **dict.fromkeys(_ROLE_NAMES, FLAG),
    "monthly_kudos": WHOLE,
    "usage_multiplier": between(0.1, 10),
    "concurrency": whole(0, 500),
    "worker_invited": whole(0, 2**31 - 1),
    "admin_comment": _COMMENT,
    "public_workers": FLAG,
    "contact": _CONTACT,
}
_UNLIMITED = "-1 is unlimited."
_COUNTS = shape(
    ("requests", "generations", "tokens", "kudos"), requests=WHOLE, generations=WHOLE, tokens=WHOLE, kudos=NUMBER
)

ACCOUNTS: Mapping[str, Schema] = {
    "Account": shape(
        ("username", "id", "kudos"),
        username={"type": "string", "description": "The alias: name#id."},
        id=WHOLE,
        kudos=NUMBER,
        kudos_details=_KUDOS_DETAILS,
        usage=ANY_OBJECT,
        contributions=ANY_OBJECT,
        records=_RECORDS,
        concurrency=WHOLE,
        worker_invited=WHOLE,
        moderator=FLAG,
        trusted=FLAG,
        flagged=FLAG,
        pseudonymous=FLAG,
        worker_count=WHOLE,
        account_age={"type": "integer", "description": "Seconds."},
        service=FLAG,
        deleted=FLAG,
        education=FLAG,
        customizer=FLAG,
        styles=array(ANY_OBJECT),
        worker_ids=TEXTS,
        sharedkey_ids=TEXTS,
        vpn=FLAG,
        special=FLAG,
        contact=TEXT,
        active_generations=shape(text=TEXTS, image=TEXTS, alchemy=TEXTS),
        evaluating_kudos=NUMBER,
        monthly_kudos=shape(amount=WHOLE, last_received=maybe(TEXT)),
        suspicious=WHOLE,
        admin_comment=TEXT,
        proxy_passkey=TEXT,
    ),
    "AccountChange": shape(
        (),
        **_CHANGED,
        kudos={"type": "number", "description": "To be added; negative to take."},
        reset_suspicion=FLAG,
        username=_NAME,
        generate_proxy_passkey=FLAG,
        undelete=FLAG,
    ),
    "AccountChanged": shape(
        (), **_CHANGED, new_kudos=NUMBER, new_suspicion=WHOLE, username=TEXT, proxy_passkey=TEXT, undeleted=FLAG
    ),
    "Document": shape(html=TEXT, markdown=TEXT),
    "Done": shape(("message",), message=TEXT),
    "Usage": shape(
        ("user_id", "days", "usage", "total"),
        user_id=WHOLE,
        days=WHOLE,
        usage=array(
            shape(
                ("day", "model", "requests", "generations", "tokens", "kudos"),
                day={"type": "string", "format": "date"},
                model=maybe(TEXT),
                sharedkey=maybe(UUID),
                requests=WHOLE,
                generations=WHOLE,
                tokens=WHOLE,
                kudos=NUMBER,
            )
        ),
        total=_COUNTS,
    ),
    "SharedKey": shape(
        ("id", "username", "kudos", "utilized"),
        id=UUID,
        username=TEXT,
        name=TEXT,
        kudos={"type": "integer", "description": _UNLIMITED},
        expiry={"type": "string", "description": "As in RFC 822."},
        utilized=WHOLE,
        max_image_pixels=WHOLE,
        max_image_steps=WHOLE,
        max_text_tokens=WHOLE,
        active_usage=ANY_OBJECT,
    ),
    "SharedKeyChange": shape(
        kudos={**whole(-1, 50_000_000, 5000), "description": _UNLIMITED},
        expiry={**whole(-1, 36_500, -1), "description": "Days from now; -1: never."},
        name={"type": "string", "minLength": 3, "maxLength": 255},
        max_image_pixels=whole(-1, 4_194_304, -1),
        max_image_steps=whole(-1, 500, -1),
        max_text_tokens=whole(-1, 500, -1),
    ),
    "Gift": shape(
        ("username",),
        username={"type": "string", "maxLength": 255, "description": "An alias, name#id, or a shared key's id."},
        amount={"type": "number", "default": 100},
    ),
    "Given": shape(("transferred",), transferred=NUMBER),
    "Awarded": shape(("awarded",), awarded=NUMBER),
    "TestAccount": shape(
        username={"type": "string", "maxLength": 30, "default": "test_user"},
        oauth_id={"type": "string", "maxLength": 50, "default": "ci_test_user"},
        moderator={"type": "boolean", "default": True},
        trusted={"type": "boolean", "default": True},
        kudos={"type": "number", "minimum": 0, "default": 10_000},
    ),
    "TestAccountMade": shape(
        ("api_key", "user_id", "alias"),
        api_key=TEXT,
        user_id=WHOLE,
        username=TEXT,
        alias=TEXT,
        kudos=NUMBER,
        trusted=FLAG,
        moderator=FLAG,
        created=FLAG,
    ),
}
