"""Accounts: whose key this is, what everybody, its holder and moderators see, and what each may change."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.admission.v1.account_details_pb2 import DeleteAccountRequest, GetAccountRequest
from services.gateway.answers import Answer, json_answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.accounts import LIST_QUERY, USAGE_QUERY
from services.gateway.documents.operations import Key, described
from services.gateway.documents.shapes import array, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import users

_ONE = "/v2/users/{id}"
_MAX_BODY = 64 * 1024
"""Bytes of a change: the longest texts, escaped, several times over."""

_MARKED = "The account is marked for deletion. After 30 days without activity it may be deleted for good."
_WIPED = "The account is gone for good."


async def find_user(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Whose key this is."""
    return users.answer(await deps.neighbours.accounts.get_account(GetAccountRequest(api_key=ask.api_key())))


async def list_users(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A page of accounts, as everybody sees them."""
    return users.list_answer(await deps.neighbours.accounts.list_accounts(users.list_request(ask.query())))


async def one_user(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One account, as much of it as the key may see."""
    message = GetAccountRequest(account_id=_number(ask), api_key=ask.caller.api_key or "")
    return users.answer(await deps.neighbours.accounts.get_account(message))


async def update(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A holder, a moderator or an administrator changes an account."""
    account = _number(ask)
    message = users.update_request(account, await ask.object(_MAX_BODY), ask.caller.api_key or "")
    ask.api_key()
    return users.changed_answer(await deps.neighbours.accounts.update_account(message))


async def delete(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An account is marked for deletion, or deleted for good after it rested."""
    message = DeleteAccountRequest(account_id=_number(ask), api_key=ask.api_key())
    gone = await deps.neighbours.accounts.delete_account(message)
    return json_answer({"message": _WIPED if gone.wiped else _MARKED})


async def usage(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What an account's requests cost, by day, model and key."""
    account = _number(ask)
    message = users.usage_request(account, ask.query(), ask.api_key())
    return users.usage_answer(account, message.days, await deps.neighbours.accounts.get_usage(message))


def _number(ask: Exchange) -> int:
    number = users.account_number(ask.parameter("id"))
    if number is None:
        raise Refusal(reasons.USER_NOT_FOUND, f"There is no account '{ask.parameter('id')[:100]}'.")
    return number


OPERATIONS = (
    Operation(
        "GET",
        "/v2/find_user",
        find_user,
        Budget.DEFAULT,
        described("Whose key this is.", key=Key.REQUIRED, answers={200: ref("Account")}),
        private=True,
    ),
    Operation(
        "GET",
        "/v2/users",
        list_users,
        Budget.DEFAULT,
        described(
            "A page of 25 accounts, as everybody sees them.",
            query=LIST_QUERY,
            answers={200: array(ref("Account"))},
            refuses=[reasons.VALIDATION_FAILED],
        ),
    ),
    Operation(
        "GET",
        _ONE,
        one_user,
        Budget.ACCOUNT,
        described(
            "One account. Its holder's key and a moderator's show more.",
            key=Key.OPTIONAL,
            answers={200: ref("Account")},
            refuses=[reasons.USER_NOT_FOUND],
        ),
        private=True,
    ),
    Operation(
        "PUT",
        _ONE,
        update,
        Budget.ACCOUNT,
        described(
            "Change an account: one's own, or as a moderator or administrator any.",
            body="AccountChange",
            key=Key.REQUIRED,
            answers={200: ref("AccountChanged")},
            refuses=[
                reasons.ANON_FORBIDDEN_USER_MOD,
                reasons.USER_NOT_FOUND,
                reasons.NOT_ADMIN,
                reasons.NOT_MODERATOR,
                reasons.NOT_PRIVILEGED,
                reasons.NON_SERVICE_FORBIDDEN,
                reasons.USER_NOT_DELETED,
                reasons.TOO_LONG_USER_NAME,
                reasons.PROFANE_USER_NAME,
                reasons.PROFANE_USER_CONTACT,
                reasons.PROFANE_ADMIN_COMMENT,
                reasons.NO_USER_MOD_SELECTED,
                reasons.NUL_BYTE_IN_PAYLOAD,
            ],
        ),
    ),
    Operation(
        "DELETE",
        _ONE,
        delete,
        Budget.ACCOUNT,
        described(
            "Mark an account for deletion; a second call, after 30 days without activity, deletes it for good.",
            key=Key.REQUIRED,
            answers={200: ref("Done")},
            refuses=[
                reasons.ANON_FORBIDDEN_USER_MOD,
                reasons.USER_NOT_FOUND,
                reasons.NOT_USER_OR_MOD,
                reasons.CANNOT_DELETE_MOD,
                reasons.CANNOT_WIPE_ACTIVE_USER,
            ],
        ),
    ),
    Operation(
        "GET",
        f"{_ONE}/usage",
        usage,
        Budget.ACCOUNT,
        described(
            "What an account's requests cost, by day, model and key, for its holder and moderators.",
            key=Key.REQUIRED,
            query=USAGE_QUERY,
            answers={200: ref("Usage")},
            refuses=[reasons.USER_NOT_FOUND, reasons.NOT_PRIVILEGED],
        ),
        private=True,
    ),
)
