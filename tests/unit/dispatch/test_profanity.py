import pytest

from horde.contract.profanity import is_profane


@pytest.mark.parametrize(
    "text",
    ["fuck", "my Fucking worker", "sh1t-box", "FUCKER9000", "MyFuckingWorker", "big_tits", "total bull$hit", "$hit"],
)
def test_words_without_another_meaning_are_profane_however_they_are_spelled(text: str) -> None:
    assert is_profane(text)


@pytest.mark.parametrize(
    "text",
    [
        "Scunthorpe GPU",
        "Matsushita",
        "Dick Wang's rig",
        "Cocktail bar",
        "Analyser",
        "Assassin",
        "grape",
        "cumulus",
        "titanium",
        "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
        "AI Horde Worker~aphrodite~oai:1.0.0:https://example.com",
        "TabbyAPI:1:url",
        "unknown:0:unknown",
        "",
        "3090 x2",
    ],
)
def test_names_of_people_towns_and_backends_are_not(text: str) -> None:
    assert not is_profane(text)
