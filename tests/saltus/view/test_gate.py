"""Who may open a page."""

from contextlib import closing
from http.client import HTTPConnection

import pytest

from saltus.common.errors import BadRequest
from saltus.view.gate import guarded_server
from saltus.view.page import Page
from tests.refusals import refusal
from tests.tables import yaml_table


@pytest.fixture(scope="module")
def server():
    served = guarded_server(0)
    yield served
    served.stop()


@pytest.mark.parametrize("host, origin, status", yaml_table("""
    127.0.0.1:8080 => null => 200
    localhost:9 => http://localhost:9 => 200
    "[::1]:8080" => http://[::1]:8080 => 200
    127.1.2.3 => null => 200
    evil.example => null => 403  # a name that somebody else has let lead here
    "" => null => 403
    0.0.0.0 => null => 403
    192.0.2.7 => null => 403
    127.0.0.1:8080 => http://evil.example => 403  # a page of another site
    127.0.0.1:8080 => "null" => 403
    127.0.0.1:8080 => http://127.0.0.1:9999 => 403
"""))  # fmt: skip
@pytest.mark.parametrize("upgrade", [False, True])
def test_pages_of_other_sites_stay_outside(server, host, origin, status, upgrade):
    fields = {"Host": host} | ({"Origin": origin} if origin else {})
    if upgrade:
        fields |= {
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "c2FsdHVzIHdhbGtzIGhlcg==",
        }  # fmt: skip
    with closing(HTTPConnection("127.0.0.1", server.get_port(), timeout=10.0)) as client:
        client.request("GET", "/", headers=fields)
        assert client.getresponse().status == (101 if upgrade and status == 200 else status)


def test_an_occupied_port_is_refused_in_one_line(server):
    port = server.get_port()
    assert str(port) in refusal(BadRequest, Page, port)
