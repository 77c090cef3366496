"""The public documents: what the privacy document says is the policy in force."""

import pytest

from horde_pb.moderation.v1.retention_policy_pb2 import GetRetentionPolicyResponse as Policy
from services.gateway.papers.writing import as_html, plain, privacy
from services.gateway.settings import PublicSettings

TOLD = PublicSettings(title="A <horde>", repository="https://example.org/source", email=None)


@pytest.mark.parametrize(
    ("policy", "sentences"),
    [
        (
            Policy(ipaddr_days=30, ceiling_days=365, access_log_days=365, has_pseudonyms=True),
            (
                "texts: kept with the record",
                "addresses: 30 days",
                "at most 365 days",
                "kept indefinitely",
                "still personal",
            ),
        ),
        (
            Policy(text_days=1, ceiling_days=2, access_log_days=7, worker_suspicion_days=90),
            (
                "texts: 1 days",
                "addresses: kept with the record",
                "at most 2 days",
                "kept for 90 days",
                "kept for 7 days",
            ),
        ),
        (
            Policy(text_days=90, ipaddr_days=90, ceiling_days=90, access_log_days=1, has_pseudonyms=True),
            ("texts: 90 days", "addresses: 90 days", "at most 90 days", "still personal data"),
        ),
        (
            Policy(ceiling_days=10, access_log_days=365),
            (
                "texts: kept with the record",
                "addresses: kept with the record",
                "at most 10 days",
                "No code of addresses",
            ),
        ),
    ],
)
def test_the_privacy_document_states_the_policy_in_force(policy: Policy, sentences: tuple[str, ...]) -> None:
    written = privacy(policy, TOLD)
    for sentence in sentences:
        assert sentence in written
    assert "## Moderation records" in written
    assert "(https://example.org/source)" in written
    assert "{" not in written


def test_html_is_escaped_and_keeps_titles_points_and_links() -> None:
    told = as_html(plain("terms", TOLD))
    assert "<h1>Terms of service of A &lt;horde&gt;</h1>" in told
    assert "<li>use somebody else&#x27;s API key without their leave</li>" in told
    assert '<a href="https://example.org/source">its source code</a>' in told
    assert "<h2>What you get</h2>" in told
    assert as_html(plain("sponsors", TOLD)).startswith("<h1>Sponsors of")
