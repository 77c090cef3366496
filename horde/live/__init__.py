"""Volatile state: the Redis runtime. What stands here may vanish at any moment; each key says what is lost.

Scripts are not here: they are in the services, one file each.
"""

from horde.live.client import Live, LiveUnavailable
from horde.live.keys import Key
from horde.live.scripts import Script, ScriptHeaderError

__all__ = ["Key", "Live", "LiveUnavailable", "Script", "ScriptHeaderError"]
