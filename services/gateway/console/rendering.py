"""How a page becomes bytes: templates that escape everything, files with a name for each content, strict headers."""

import hashlib
from collections.abc import Mapping
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined

from services.gateway.answers import Answer, Header

_FILES: Mapping[str, bytes] = {
    "console.css": b"text/css; charset=utf-8",
    "chat.js": b"text/javascript; charset=utf-8",
    "review_parts.js": b"text/javascript; charset=utf-8",
    "review.js": b"text/javascript; charset=utf-8",
    "htmx.min.js": b"text/javascript; charset=utf-8",
    "icon.svg": b"image/svg+xml",
}

_HTML: Header = (b"content-type", b"text/html; charset=utf-8")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src {}; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
_SAFE: tuple[Header, ...] = (
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
"""A page that shows what strangers wrote runs no script but ours, wherever that text ends up."""

_PRIVATE: tuple[Header, ...] = ((b"cache-control", b"private, no-store"),)
_PASSING: tuple[Header, ...] = ((b"cache-control", b"no-cache"),)
_LASTING: tuple[Header, ...] = (
    (b"cache-control", b"public, max-age=31536000, immutable"),
    (b"x-content-type-options", b"nosniff"),
)


def _read() -> Mapping[str, tuple[str, bytes]]:
    """Each file's public path and content. The path names the content, so a browser may keep it for ever."""
    folder = resources.files("services.gateway.console") / "static"
    found: dict[str, tuple[str, bytes]] = {}
    for name in _FILES:
        content = folder.joinpath(name).read_bytes()
        for earlier, (path, _) in found.items():
            # A script that imports another does so by the path that names that one's content.
            content = content.replace(f'"./{earlier}"'.encode(), f'"{path}"'.encode())
        found[name] = (f"/console/{hashlib.sha256(content).hexdigest()[:16]}/{name}", content)
    return found


_STATIC = _read()

_TEMPLATES = Environment(
    loader=PackageLoader("services.gateway.console"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.globals["static"] = {name.replace(".", "_"): path for name, (path, _) in _STATIC.items()}


def page(template: str, **values: object) -> Answer:
    """The page of a template; a value that the template wants and does not get is a bug."""
    return _page(template, values, "'self'", _PASSING)


def private_page(template: str, *, reads_from: str | None, **values: object) -> Answer:
    """A page that no cache keeps. `reads_from`: the one other origin that its script may read from."""
    return _page(template, values, "'self'" if reads_from is None else f"'self' {reads_from}", _PRIVATE)


def _page(template: str, values: Mapping[str, object], connections: str, caching: tuple[Header, ...]) -> Answer:
    html = _TEMPLATES.get_template(template).render(values)
    policy = (b"content-security-policy", _POLICY.format(connections).encode("latin-1"))
    return Answer(html.encode(), headers=(policy, *_SAFE, *caching), kind=_HTML)


def static_files() -> Mapping[str, Answer]:
    """Every file a page names, by its public path."""
    return {
        path: Answer(content, headers=_LASTING, kind=(b"content-type", _FILES[name]))
        for name, (path, content) in _STATIC.items()
    }
