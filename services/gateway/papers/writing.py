"""A document's Markdown with the facts of this horde in it, and the same as HTML."""

import re
from html import escape
from typing import Literal

import jinja2

from horde_pb.moderation.v1.retention_policy_pb2 import GetRetentionPolicyResponse
from services.gateway.settings import PublicSettings

type Form = Literal["html", "markdown"]

# What is put in is the operator's own words; as HTML every line is escaped below.
_PAGES = jinja2.Environment(
    loader=jinja2.PackageLoader("services.gateway", "papers"),
    autoescape=False,  # noqa: S701 - Markdown is no HTML
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


def privacy(policy: GetRetentionPolicyResponse, told: PublicSettings) -> str:
    """The privacy document under this policy, as Markdown."""
    history = policy.worker_suspicion_days
    return _PAGES.get_template("privacy.md.j2").render(
        told=told,
        policy=policy,
        text=_window(policy.text_days, is_set=policy.HasField("text_days")),
        address=_window(policy.ipaddr_days, is_set=policy.HasField("ipaddr_days")),
        suspicions=f"kept for {history} days" if policy.HasField("worker_suspicion_days") else "kept indefinitely",
    )


def plain(name: Literal["terms", "sponsors"], told: PublicSettings) -> str:
    """A document that depends on nothing but this horde's name, as Markdown."""
    return _PAGES.get_template(f"{name}.md.j2").render(told=told)


def as_html(markdown: str) -> str:
    """HTML of what our documents are written with: titles, paragraphs, lists of points, links."""
    return "\n".join(_block(block) for block in markdown.strip().split("\n\n")) + "\n"


def _block(block: str) -> str:
    if block.startswith("* "):
        points = "".join(f"<li>{_inline(line.removeprefix('* '))}</li>" for line in block.splitlines())
        return f"<ul>{points}</ul>"
    marks, _, title = block.partition(" ")
    if marks and set(marks) == {"#"}:
        return f"<h{len(marks)}>{_inline(title)}</h{len(marks)}>"
    return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    return _LINK.sub(r'<a href="\2">\1</a>', escape(text))


def _window(days: int, *, is_set: bool) -> str:
    return f"{days} days" if is_set else "kept with the record"
