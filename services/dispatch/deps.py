"""What every handler and loop of dispatch is given."""

from dataclasses import dataclass, field
from typing import Protocol

from horde.clock import Clock
from horde.contract.models import ModelReference
from horde.store import Store
from services.dispatch.addresses import Addresses
from services.dispatch.aftermath import Aftermath
from services.dispatch.jail.cells import Jail
from services.dispatch.memory import Memory
from services.dispatch.neighbours import Neighbours
from services.dispatch.pop.claiming import Claiming
from services.dispatch.settings import DispatchSettings
from services.dispatch.vpn_check import VpnCheck
from services.dispatch.waiting_room import WaitingRoom
from services.dispatch.webhooks import Webhooks


class Reference(Protocol):
    """Where the model reference of the moment is read."""

    @property
    def current(self) -> ModelReference:
        """The last good snapshot."""
        ...


@dataclass(frozen=True, slots=True)
class Deps:
    """The dependencies, made once in `__main__`."""

    store: Store
    clock: Clock
    settings: DispatchSettings
    neighbours: Neighbours
    addresses: Addresses
    reference: Reference
    aftermath: Aftermath
    webhooks: Webhooks
    jail: Jail = field(default_factory=Jail)
    memory: Memory = field(default_factory=Memory)
    vpn: VpnCheck = field(default_factory=VpnCheck)
    claiming: Claiming = field(default_factory=Claiming)
    room: WaitingRoom = field(default_factory=WaitingRoom)
