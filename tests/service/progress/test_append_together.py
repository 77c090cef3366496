"""AppendTogether: each post is judged as if it had come alone."""

from horde.contract import reasons
from horde.rpc import refusals
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch_pb
from horde_pb.progress.v1 import progress_service_pb2 as pb
from tests.fakes.progress_service import Progress, a_lease, a_post


async def test_every_post_gets_the_answer_it_would_get_alone(progress: Progress) -> None:
    first, second, third, gone = a_lease(), a_lease(), a_lease(), a_lease()
    for lease in (first, second, third):
        await progress.stub.OpenLease(lease)
    progress.dispatch.states[gone.generation_id] = dispatch_pb.GENERATION_STATE_FINISHED
    posts = [
        a_post(first, 1, "a"),
        a_post(second, 3, "too early"),
        a_post(first, 1, "a", api_key="somebody-elses-key-000"),
        a_post(gone, 1, "late"),
        a_post(second, 1, ""),
        a_post(third, 1, "b"),
    ]
    answer = await progress.stub.AppendTogether(pb.AppendTogetherRequest(posts=posts))
    told = [one.WhichOneof("outcome") for one in answer.answers]
    assert told == ["accepted", "refused", "refused", "refused", "refused", "accepted"]
    assert [answer.answers[place].accepted.accepted_seq for place in (0, 5)] == [1, 1]
    refused = [refusals.unpacked(answer.answers[place].refused) for place in (1, 2, 3, 4)]
    assert [refusal.reason for refusal in refused if refusal is not None] == [
        reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE,
        reasons.WRONG_CREDENTIALS,
        reasons.CHAT_PROGRESS_NOT_STREAMING,
        reasons.BAD_REQUEST,
    ]
    assert refused[0] is not None
    assert refused[0].facts == {"expected_seq": 1}
    assert progress.dispatch.renewals == []


async def test_no_posts_have_no_answers(progress: Progress) -> None:
    assert await progress.stub.AppendTogether(pb.AppendTogetherRequest()) == pb.AppendTogetherResponse()
