"""Chat requests: how a body becomes a request, and everything derived from it that two places must agree on."""

from horde.contract.chat.parsing import parse_chat_request
from horde.contract.chat.request import ChatRequest, HordeOptions

__all__ = ["ChatRequest", "HordeOptions", "parse_chat_request"]
