"""The three stores made ready side by side: embedded ones, or the user's own where their address is given."""

import asyncio
import importlib
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from horde.cli.stack.buckets import client, let_pages_read, make_ready
from horde.cli.stack.data_folder import DataFolder
from horde.cli.stack.display import Display
from horde.cli.stack.environment import EVIDENCE_BUCKET, WITH_DATABASE, StackSettings, Stores
from horde.cli.stack.postgres import Postgres
from horde.cli.stack.processes import Processes
from horde.cli.stack.seaweed import Keys, Seaweed
from horde.cli.stack.valkey import Valkey

NAMES = ("postgres", "valkey", "s3")


async def together(*work: Coroutine[Any, Any, None]) -> None:
    """Do all of it side by side. The first failure cancels the rest and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


class StoreSet:
    """The stores of one stack."""

    def __init__(
        self, folder: DataFolder, processes: Processes, settings: StackSettings, display: Display, *, durable: bool
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._display = display
        self._database_url = settings.database_url or ""
        self._redis_url = settings.redis_url or ""
        self._s3_endpoint = settings.s3_endpoint or ""
        keep = folder.secrets
        self._owns_s3 = settings.s3_endpoint is None
        self._access = keep.s3_access_key if self._owns_s3 else settings.s3_access_key or ""
        self._secret = keep.s3_secret_key if self._owns_s3 else settings.s3_secret_key or ""
        self._postgres = Postgres(folder.path / "postgres", processes, password=keep.owner_password, durable=durable)
        self._valkey = Valkey(folder.path / "valkey", processes, password=keep.redis_password, durable=durable)
        keys = [
            Keys("horde", keep.s3_access_key, keep.s3_secret_key),
            Keys("evidence", keep.evidence_access_key, keep.evidence_secret_key, bucket=EVIDENCE_BUCKET),
        ]
        self._seaweed = Seaweed(folder.path / "s3", processes, keys=keys)

    async def start(self) -> Stores:
        """Start and prepare all three. Raises StartError when one cannot be had."""
        await together(
            self._shown("postgres", self._start_database),
            self._shown("valkey", self._start_redis),
            self._shown("s3", self._start_objects),
        )
        return Stores(
            database_url=self._database_url,
            logins={service: self._login(service) for service in WITH_DATABASE},
            redis_url=self._redis_url,
            s3_endpoint=self._s3_endpoint,
            s3_access_key=self._access,
            s3_secret_key=self._secret,
            evidence=self._evidence(),
        )

    def clean_up(self) -> None:
        """Remove what lies outside the data folder, once the servers have stopped."""
        self._postgres.remove_sockets()

    async def _shown(self, name: str, start: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._display.starting(name)
        await start()
        self._display.ready(name)

    async def _start_database(self) -> None:
        loading = asyncio.create_task(asyncio.to_thread(importlib.import_module, "horde.store.migrate"))
        try:
            if not self._database_url:
                await self._postgres.start()
                self._database_url = self._postgres.url()
        finally:
            await loading  # a second of loading, spent while the server starts
        await asyncio.to_thread(self._migrate)

    def _migrate(self) -> None:
        from horde.store.migrate import set_logins, upgrade

        upgrade(self._database_url)
        set_logins(self._database_url, {f"horde_{service}": self._password(service) for service in WITH_DATABASE})

    async def _start_redis(self) -> None:
        if not self._redis_url:
            await self._valkey.start()
            self._redis_url = self._valkey.url

    async def _start_objects(self) -> None:
        if self._owns_s3:
            await self._seaweed.start()
            self._s3_endpoint = self._seaweed.endpoint

    async def prepare_buckets(self, gateway_port: int) -> None:
        """Make the buckets and write once to each. Services may start meanwhile; requests may not come yet."""
        await asyncio.to_thread(self._make_buckets, gateway_port)

    def _make_buckets(self, gateway_port: int) -> None:
        s3 = client(self._s3_endpoint, self._access, self._secret, self._settings.s3_region)
        evidence = {EVIDENCE_BUCKET} if self._evidence() else set()
        make_ready(s3, self._settings.buckets | evidence)
        for bucket in evidence:
            let_pages_read(s3, bucket, [f"http://{host}:{gateway_port}" for host in ("127.0.0.1", "localhost")])

    def _evidence(self) -> dict[str, str]:
        """The evidence store is embedded only together with the embedded S3, and never beside one of the user's."""
        if not self._owns_s3 or self._settings.evidence_account or self._settings.evidence_bucket:
            return {}
        return {
            "R2_EVIDENCE_ACCOUNT": self._s3_endpoint,
            "R2_EVIDENCE_BUCKET": EVIDENCE_BUCKET,
            "EVIDENCE_AWS_ACCESS_KEY_ID": self._folder.secrets.evidence_access_key,
            "EVIDENCE_AWS_SECRET_ACCESS_KEY": self._folder.secrets.evidence_secret_key,
        }

    def _password(self, service: str) -> str:
        passwords = {
            "admission": self._folder.secrets.admission_password,
            "dispatch": self._folder.secrets.dispatch_password,
            "moderation": self._folder.secrets.moderation_password,
        }
        return passwords[service]

    def _login(self, service: str) -> str:
        parts = urlsplit(self._database_url)
        place = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=f"horde_{service}:{self._password(service)}@{place}"))
