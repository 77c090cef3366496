from pathlib import Path

from tools.protos import generate, stale

PROTO = """
syntax = "proto3";
package horde_pb.demo.v1;
service DemoService {
  rpc Ping(PingRequest) returns (PingResponse);
}
message PingRequest {}
message PingResponse {}
"""


def test_generated_packages_import_by_their_proto_path(tmp_path: Path) -> None:
    source = tmp_path / "proto" / "horde_pb" / "demo" / "v1" / "demo_service.proto"
    source.parent.mkdir(parents=True)
    source.write_text(PROTO)
    generate(tmp_path / "horde_pb", tmp_path / "proto")
    grpc = (tmp_path / "horde_pb" / "demo" / "v1" / "demo_service_pb2_grpc.py").read_text()
    assert "from horde_pb.demo.v1 import demo_service_pb2" in grpc
    assert (tmp_path / "horde_pb" / "demo" / "__init__.py").exists()


def test_stale_names_what_differs_what_is_missing_and_what_is_left_over(tmp_path: Path) -> None:
    for folder, files in (
        ("old", {"same.py": "1", "changed.py": "1", "left.py": "1"}),
        ("new", {"same.py": "1", "changed.py": "2", "added.pyi": "1"}),
    ):
        (tmp_path / folder).mkdir()
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
    assert stale(tmp_path / "old", tmp_path / "new") == ["added.pyi", "changed.py", "left.py"]
