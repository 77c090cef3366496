import socket

from horde.cli.stack.ports import FIRST, LAST, free_ports, is_free


def test_a_port_somebody_listens_on_is_not_free() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert not is_free(server.getsockname()[1])


def test_free_ports_are_different_and_below_those_of_outgoing_connections() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    assert all(FIRST <= port < LAST for port in ports)
