"""What admission tells the gateway for its rate limits: whose address may call more often, and whose word counts."""

import hashlib

import pytest

from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as pb
from tests.fakes.admission_world import MODEL, AdmissionWorld, chat

EDUCATION = 8


async def passkey(world: AdmissionWorld, text: str, *, flagged: bool = False) -> None:
    """A service account with this passkey."""
    service = await world.account("front", service=True, flagged=flagged)
    await world.sql.execute("UPDATE admission.users SET proxy_passkey = $2 WHERE id = $1", service.id, text)


async def test_the_address_of_a_trusted_service_or_education_account_is_favoured(world: AdmissionWorld) -> None:
    await world.worker()
    trusted = await world.account("trusted", kudos=1000, trusted=True)
    service = await world.account("service", kudos=1000, service=True)
    school = await world.account("school", kudos=1000)
    await world.sql.execute("INSERT INTO admission.user_roles VALUES ($1, $2)", school.id, EDUCATION)
    other = await world.account("other", kudos=1000)
    favoured = {
        account.username.partition("#")[0]: (await world.admit(chat(), key=account.api_key)).favours_address
        for account in (trusted, service, school, other)
    }
    assert favoured == {"trusted": True, "service": True, "school": True, "other": False}
    assert not (await world.admit(chat())).favours_address
    assert (await world.admit(chat(horde={"dry_run": True}), key=trusted.api_key)).favours_address


async def test_an_address_that_a_service_speaks_for_is_not_favoured(world: AdmissionWorld) -> None:
    await world.worker()
    await passkey(world, "open")
    await world.deps.passkeys.refresh()
    trusted = await world.account("trusted", kudos=1000, trusted=True)
    proxied = {"proxied_for": "198.51.100.7", "proxy_passkey": "open"}
    assert not (await world.admit(chat(), key=trusted.api_key, **proxied)).favours_address


async def test_the_gateway_learns_the_hashes_of_passkeys_that_count(world: AdmissionWorld) -> None:
    await passkey(world, "open")
    await passkey(world, "shut", flagged=True)
    answer = await world.stub.ListProxyPasskeys(pb.ListProxyPasskeysRequest())
    assert list(answer.passkey_hashes) == [hashlib.sha256(b"open").digest()]


async def test_a_forwarded_address_is_judged_in_one_spelling(world: AdmissionWorld) -> None:
    await world.worker()
    await passkey(world, "open")
    await world.deps.passkeys.refresh()
    answer = await world.admit(chat(), proxied_for="::ffff:198.51.100.7", proxy_passkey="open")
    assert (await world.row(answer.request_id))["ipaddr"] == "198.51.100.7"


async def test_images_are_stored_once_also_when_the_answer_is_lost(world: AdmissionWorld) -> None:
    await world.worker(chat_features=["prompt_overflow_refused", "vision"], image_transports=["url"])
    world.media.is_away = True
    parts = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    with pytest.raises(Refusal) as caught:
        await world.admit({"model": MODEL, "messages": [{"role": "user", "content": parts}]})
    assert caught.value.reason.key == "ChatImageStorageUnavailable"
    assert world.media.asked == 1
    assert await world.count("dispatch.waiting_prompts") == 0
