"""One module for each dashboard; `BOARDS` are all of them, in the order in which somebody who was woken reads them."""

from tools.observe.boards import admission, dispatch, media, moderation, money, overview, stores, streaming

BOARDS = tuple(module.BOARD for module in (overview, admission, dispatch, streaming, media, moderation, money, stores))
