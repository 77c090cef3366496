import pytest

from horde.contract.refusal import Refusal
from services.dispatch.rules.declaration import ChatAsk, ChatLimits, PopAsk, priority_ids, read_declaration

LIMITS = ChatLimits(4096, 512)


def ask(**changed: object) -> PopAsk:
    fields: dict[str, object] = {"api_key": "k", "address": "", "name": "w", "models": ["m"], **changed}
    return PopAsk(**fields)  # type: ignore[arg-type]  # the test's own names


def test_a_plain_pop_declares_text_jobs_and_no_chat() -> None:
    declared = read_declaration(ask())

    assert (declared.chat.accepts_chat_jobs, declared.chat.accepts_prompt_jobs) == (False, True)
    assert (declared.max_length, declared.max_context_length, declared.threads, declared.amount) == (512, 2048, 1, 1)


def test_chat_fields_without_chat_jobs_are_not_kept() -> None:
    chat = ChatAsk(chat_features=["seed"], model_id="m", chat_limits=LIMITS, image_transports=["url"])

    assert read_declaration(ask(chat=chat)).chat == read_declaration(ask()).chat


def test_unknown_values_are_ignored_and_known_ones_sorted_once() -> None:
    chat = ChatAsk(
        chat_jobs=True,
        chat_features=["tools", "seed", "seed", "teleport"],
        chat_limits=LIMITS,
        model_id="m",
        image_transports=["url", "smoke"],
    )

    declared = read_declaration(ask(chat=chat)).chat

    assert (declared.features, declared.image_transports) == (("seed", "tools"), ("url",))


@pytest.mark.parametrize("temperature", [-0.1, float("nan")])
def test_a_tools_temperature_below_zero_is_refused(temperature: float) -> None:
    limits = ChatLimits(4096, 512, temperature)

    with pytest.raises(Refusal, match="tools_max_temperature"):
        read_declaration(ask(chat=ChatAsk(chat_jobs=True, chat_limits=limits, model_id="m")))


def test_numbers_beyond_a_column_are_brought_into_it() -> None:
    declared = read_declaration(ask(max_length=2**40, max_context_length=-(2**40), threads=900, amount=900))

    assert (declared.max_length, declared.max_context_length) == (2**31 - 1, -(2**31) + 1)
    assert (declared.threads, declared.amount) == (50, 20)


def test_a_name_is_trimmed_cut_and_freed_of_markup() -> None:
    assert read_declaration(ask(name="  <b>me</b> & you ")).name == "&lt;b&gt;me&lt;/b&gt; &amp; you"
    assert len(read_declaration(ask(name="x" * 300)).name) == 100


@pytest.mark.parametrize("name", ["", "   "])
def test_a_worker_needs_a_name(name: str) -> None:
    with pytest.raises(Refusal, match="name"):
        read_declaration(ask(name=name))


def test_at_most_200_models_are_kept_each_once() -> None:
    assert read_declaration(ask(models=["a", "b", "a"])).models == ("a", "b")
    assert len(read_declaration(ask(models=[str(number) for number in range(300)])).models) == 200


def test_only_the_number_of_a_priority_user_counts() -> None:
    assert priority_ids(["me#1", "a#b#22", "me#1", "gone#99999999999"]) == (1, 22)


@pytest.mark.parametrize("name", ["me#", "me#one", "me#-1", "me#²"])
def test_a_priority_user_needs_a_number(name: str) -> None:
    with pytest.raises(Refusal, match="account number"):
        priority_ids([name])
