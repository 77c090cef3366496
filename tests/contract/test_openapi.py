"""The OpenAPI document: whole, and about the addresses that exist."""

from services.gateway.app import OPERATIONS
from services.gateway.documents.operations import document
from services.gateway.documents.schemas import SCHEMAS


def test_every_operation_is_documented_with_answers_and_errors() -> None:
    paths = document(OPERATIONS)["paths"]
    assert isinstance(paths, dict)
    told = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert told == {(one.method, f"/api{one.path.replace(':path', '')}") for one in OPERATIONS}
    for methods in paths.values():
        for entry in methods.values():
            assert {"200", "429", "500", "503"} <= set(entry["responses"])


def test_every_reference_leads_somewhere() -> None:
    def references(value: object) -> set[str]:
        if isinstance(value, dict):
            own = {str(value["$ref"])} if "$ref" in value else set()
            return own.union(*(references(inner) for inner in value.values()))
        if isinstance(value, list | tuple):
            return set().union(*(references(inner) for inner in value))
        return set()

    assert references(document(OPERATIONS)) == {f"#/components/schemas/{name}" for name in SCHEMAS}
