from tools.locks import problems


def test_the_locks_answer_the_project_and_hold_no_address() -> None:
    assert problems() == []
