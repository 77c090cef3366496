"""What the gateway asks about accounts: which call may be repeated, and how long each may take."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from horde.rpc.client import Neighbour
from horde_pb.admission.v1 import account_details_pb2 as details
from horde_pb.admission.v1 import accounts_service_pb2 as service
from horde_pb.admission.v1 import accounts_service_pb2_grpc as service_grpc
from horde_pb.admission.v1 import shared_keys_pb2 as keys

_READ = timedelta(seconds=5)
_WRITE = timedelta(seconds=15)

type _Call[Ask, Answer] = Callable[[Ask], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class AccountCalls:
    """Every call about accounts. All raise Refusal or NeighbourUnavailable."""

    get_account: _Call[details.GetAccountRequest, details.GetAccountResponse]
    list_accounts: _Call[service.ListAccountsRequest, service.ListAccountsResponse]
    update_account: _Call[details.UpdateAccountRequest, details.UpdateAccountResponse]
    delete_account: _Call[details.DeleteAccountRequest, details.DeleteAccountResponse]
    create_shared_key: _Call[keys.CreateSharedKeyRequest, keys.CreateSharedKeyResponse]
    get_shared_key: _Call[keys.GetSharedKeyRequest, keys.GetSharedKeyResponse]
    update_shared_key: _Call[keys.UpdateSharedKeyRequest, keys.UpdateSharedKeyResponse]
    delete_shared_key: _Call[keys.DeleteSharedKeyRequest, keys.DeleteSharedKeyResponse]
    transfer_kudos: _Call[service.TransferKudosRequest, service.TransferKudosResponse]
    award_kudos: _Call[service.AwardKudosRequest, service.AwardKudosResponse]
    get_usage: _Call[service.GetUsageRequest, service.GetUsageResponse]
    make_test_account: _Call[service.MakeTestAccountRequest, service.MakeTestAccountResponse]


def account_calls(to_admission: Neighbour) -> AccountCalls:
    """The calls, over a channel that is open. Once: a repeat would do a second time what was asked for once."""
    stub = service_grpc.AccountsServiceStub(to_admission.channel)
    return AccountCalls(
        get_account=to_admission.repeatable(stub.GetAccount, deadline=_READ),
        list_accounts=to_admission.repeatable(stub.ListAccounts, deadline=_READ),
        update_account=to_admission.once(stub.UpdateAccount, deadline=_WRITE),
        delete_account=to_admission.once(stub.DeleteAccount, deadline=_WRITE),
        create_shared_key=to_admission.once(stub.CreateSharedKey, deadline=_WRITE),
        get_shared_key=to_admission.repeatable(stub.GetSharedKey, deadline=_READ),
        update_shared_key=to_admission.repeatable(stub.UpdateSharedKey, deadline=_WRITE),
        delete_shared_key=to_admission.once(stub.DeleteSharedKey, deadline=_WRITE),
        transfer_kudos=to_admission.once(stub.TransferKudos, deadline=_WRITE),
        award_kudos=to_admission.once(stub.AwardKudos, deadline=_WRITE),
        get_usage=to_admission.repeatable(stub.GetUsage, deadline=_READ),
        make_test_account=to_admission.once(stub.MakeTestAccount, deadline=_WRITE),
    )
