"""How often, per whom: the `limits` library on our Redis. Not here: which limits there are, and what to say."""

from horde.ratelimit.limiter import RateLimiter, Verdict

__all__ = ["RateLimiter", "Verdict"]
