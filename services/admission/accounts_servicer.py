"""The RPCs of accounts: each is its handler, between two translations."""

from typing import Any, override

import grpc

from horde_pb.admission.v1 import account_details_pb2 as pb
from horde_pb.admission.v1 import accounts_service_pb2 as service_pb
from horde_pb.admission.v1 import shared_keys_pb2 as keys_pb
from horde_pb.admission.v1.accounts_service_pb2_grpc import AccountsServiceServicer
from services.admission import accounts_wire as wire
from services.admission.deps import Deps
from services.admission.handlers.award_kudos import award_kudos
from services.admission.handlers.create_shared_key import create_shared_key
from services.admission.handlers.delete_account import delete_account
from services.admission.handlers.delete_shared_key import delete_shared_key
from services.admission.handlers.get_account import get_account
from services.admission.handlers.get_shared_key import get_shared_key
from services.admission.handlers.get_usage import get_usage
from services.admission.handlers.list_accounts import list_accounts
from services.admission.handlers.list_promotions import list_promotions
from services.admission.handlers.make_test_account import make_test_account
from services.admission.handlers.transfer_kudos import transfer_kudos
from services.admission.handlers.update_account import update_account
from services.admission.handlers.update_shared_key import update_shared_key

type Context = grpc.aio.ServicerContext[Any, Any]


class AccountsServicer(AccountsServiceServicer):
    """AccountsService over these dependencies."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def GetAccount(self, request: pb.GetAccountRequest, context: Context) -> pb.GetAccountResponse:
        wanted = request.account_id if request.HasField("account_id") else None
        found = await get_account(request.api_key, wanted, self._deps)
        account = wire.shown(found, self._deps.clock.now())
        return pb.GetAccountResponse(account=account, sharedkey_name=found.sharedkey_name)

    @override
    async def ListAccounts(
        self, request: service_pb.ListAccountsRequest, context: Context
    ) -> service_pb.ListAccountsResponse:
        found = await list_accounts(request.page, self._deps, by_age=request.by_age)
        now = self._deps.clock.now()
        return service_pb.ListAccountsResponse(accounts=[wire.shown(one, now) for one in found])

    @override
    async def UpdateAccount(self, request: pb.UpdateAccountRequest, context: Context) -> pb.UpdateAccountResponse:
        change = wire.change(request)
        return wire.changed(await update_account(request.api_key, request.account_id, change, self._deps))

    @override
    async def DeleteAccount(self, request: pb.DeleteAccountRequest, context: Context) -> pb.DeleteAccountResponse:
        return pb.DeleteAccountResponse(wiped=await delete_account(request.api_key, request.account_id, self._deps))

    @override
    async def CreateSharedKey(
        self, request: keys_pb.CreateSharedKeyRequest, context: Context
    ) -> keys_pb.CreateSharedKeyResponse:
        made = await create_shared_key(request.api_key, wire.key_change(request.key), self._deps)
        return keys_pb.CreateSharedKeyResponse(key=wire.shared_key(made))

    @override
    async def GetSharedKey(
        self, request: keys_pb.GetSharedKeyRequest, context: Context
    ) -> keys_pb.GetSharedKeyResponse:
        found = await get_shared_key(request.id, request.api_key, self._deps)
        return keys_pb.GetSharedKeyResponse(key=wire.shared_key(*found))

    @override
    async def UpdateSharedKey(
        self, request: keys_pb.UpdateSharedKeyRequest, context: Context
    ) -> keys_pb.UpdateSharedKeyResponse:
        change = wire.key_change(request.change)
        return keys_pb.UpdateSharedKeyResponse(
            key=wire.shared_key(await update_shared_key(request.api_key, request.id, change, self._deps))
        )

    @override
    async def DeleteSharedKey(
        self, request: keys_pb.DeleteSharedKeyRequest, context: Context
    ) -> keys_pb.DeleteSharedKeyResponse:
        await delete_shared_key(request.api_key, request.id, self._deps)
        return keys_pb.DeleteSharedKeyResponse()

    @override
    async def TransferKudos(
        self, request: service_pb.TransferKudosRequest, context: Context
    ) -> service_pb.TransferKudosResponse:
        asked = (request.target, request.amount_hundredths, request.retry_key or None)
        moved = await transfer_kudos(request.api_key, *asked, self._deps)
        return service_pb.TransferKudosResponse(transferred_hundredths=moved)

    @override
    async def AwardKudos(
        self, request: service_pb.AwardKudosRequest, context: Context
    ) -> service_pb.AwardKudosResponse:
        awarded = await award_kudos(request.api_key, request.target, request.amount_hundredths, self._deps)
        return service_pb.AwardKudosResponse(awarded_hundredths=awarded)

    @override
    async def GetUsage(self, request: service_pb.GetUsageRequest, context: Context) -> service_pb.GetUsageResponse:
        asked = (request.account_id, request.days, request.shared_key)
        return wire.usage(await get_usage(request.api_key, *asked, self._deps))

    @override
    async def MakeTestAccount(
        self, request: service_pb.MakeTestAccountRequest, context: Context
    ) -> service_pb.MakeTestAccountResponse:
        api_key, made, is_new = await make_test_account(wire.test_account(request), self._deps)
        account = wire.shown(made, self._deps.clock.now())
        return service_pb.MakeTestAccountResponse(api_key=api_key, account=account, created=is_new)

    @override
    async def ListPromotions(
        self, request: service_pb.ListPromotionsRequest, context: Context
    ) -> service_pb.ListPromotionsResponse:
        return wire.promotions(await list_promotions(request.limit, self._deps))
