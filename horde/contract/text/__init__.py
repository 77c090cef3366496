"""A text request's body: a prompt and its params, read strictly."""

from horde.contract.text.parsing import parse_text_request
from horde.contract.text.request import TextRequest

__all__ = ["TextRequest", "parse_text_request"]
