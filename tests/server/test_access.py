"""Who may call: tokens, passwords, certificates, and what is refused as insecure."""

from __future__ import annotations

import logging
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import flight

import pyspark_substrait
from pyspark_substrait.cli import main
from pyspark_substrait.server.handles import Handles
from pyspark_substrait.server.refusals import NotFound, Unavailable
from tests.server.clients import RawClient, command, field

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.server.serving import Server

CATALOGS = command("CommandGetCatalogs")


def test_a_wrong_token_is_refused(server: Server) -> None:
    for token in (None, "wrong", ""):
        with (
            RawClient(server.uri, token) as client,
            pytest.raises(flight.FlightUnauthenticatedError, match=r"this server asks who you are|is not one of this"),
        ):
            client.table(CATALOGS)


def test_passwords_are_changed_for_tokens(spark: SparkSession, tmp_path: Path) -> None:
    line = CliRunner().invoke(main, ["serve-user", "ana"], input="se:cret\nse:cret\n")
    users = tmp_path / "users"
    users.write_text(f"# users\n{line.stdout.splitlines()[-1]}\n")
    assert "cret" not in users.read_text()
    driver = pytest.importorskip("adbc_driver_flightsql.dbapi")
    with pyspark_substrait.serve(spark, password_file=users, allow_sql=True) as server:
        assert server.token is None
        right = {"username": "ana", "password": "se:cret"}
        with driver.connect(server.uri, db_kwargs=right, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == [(1,)]
        for user, password in (("ana", "secret"), ("bob", "se:cret")):
            with pytest.raises(Exception, match="the user or the password is wrong"):
                driver.connect(server.uri, db_kwargs={"username": user, "password": password}, autocommit=True)
        client = flight.FlightClient(server.uri)
        header = client.authenticate_basic_token("ana", "se:cret")
        options = flight.FlightCallOptions(headers=[header])
        assert [found.body.to_pybytes() for found in client.do_action(("CloseSession", b""), options)] == [b"\x08\x01"]
        with pytest.raises(flight.FlightUnauthenticatedError, match="its login has expired"):
            list(client.do_action(("CloseSession", b""), options))


def test_statements_belong_to_their_user(spark: SparkSession) -> None:
    with pyspark_substrait.serve(spark, tokens={"ana": "a-token", "bob": "b-token"}, allow_sql=True) as server:
        ana, bob = RawClient(server.uri, "a-token"), RawClient(server.uri, "b-token")
        info = ana.info(command("CommandStatementQuery", field(1, "SELECT 1 AS a")))
        with pytest.raises(KeyError, match="there is no such ticket"):
            bob.reader(info)
        with pytest.raises(KeyError, match="there is no such ticket"):
            bob.action("CancelFlightInfo", field(1, info.serialize()))
        assert ana.reader(info).read_all().to_pylist() == [{"a": 1}]


def test_a_token_file(spark: SparkSession, tmp_path: Path) -> None:
    made = CliRunner().invoke(main, ["serve-user", "report", "--token"])
    token = made.stderr.partition("report: ")[2].strip()
    file = tmp_path / "tokens"
    file.write_text(made.stdout)
    assert token and token not in made.stdout
    with pyspark_substrait.serve(spark, token_file=file) as server, RawClient(server.uri, token) as client:
        assert client.table(CATALOGS).num_rows == 2


@pytest.mark.parametrize("text", ["", "ana", "ana:scrypt:00:11", "ana:sha256:zz", ":sha256:" + "00" * 32])
def test_a_wrong_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text(text)
    options: list[dict[str, Any]] = [{"password_file": file}, {"token_file": file}]
    for given in options:
        with pytest.raises(pyspark_substrait.SubstraitError, match=r"is not of the form user:|names no user"):
            pyspark_substrait.serve(None, **given)


def test_requests_are_logged(server: Server, raw: RawClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pyspark_substrait.server")
    raw.table(command("CommandStatementQuery", field(1, "SELECT id FROM range(3)")))
    with pytest.raises(pa.ArrowInvalid):
        raw.info(command("CommandStatementQuery", field(1, "SELECT nope")))
    lines = [record.getMessage() for record in caplog.records if record.name == "pyspark_substrait.server"]
    assert len({line.partition("subject=")[2].split()[0] for line in lines[:2]}) == 1
    assert "user=user method=DoGet subject=sql:" in lines[1] and "verdict=ok rows=3 " in lines[1]
    assert "verdict=InvalidArgument" in lines[2]
    assert "nope" not in "".join(lines)


# certificates ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and certificates of it for the server and for a client."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates")
    folder = tmp_path_factory.mktemp("certificates")

    new = ("-newkey", "rsa:2048", "-nodes")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ca")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl(*f"req -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}".split())
        openssl(
            *f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem -days 2".split(),
            *("-extfile", "names"),
        )
    return folder


def test_encryption(spark: SparkSession, certificates: Path) -> None:
    authority = (certificates / "ca.pem").read_bytes()
    pair: dict[str, Any] = {"certificate": certificates / "server.pem", "key": certificates / "server.key"}
    with pyspark_substrait.serve(spark, **pair, host="localhost") as server:
        assert server.uri.startswith("grpc+tls://")
        with RawClient(server.uri, server.token, tls_root_certs=authority) as client:
            assert client.table(CATALOGS).num_rows == 2
        with RawClient(server.uri, server.token) as client, pytest.raises(flight.FlightUnavailableError):
            client.table(CATALOGS)


def test_clients_with_certificates(spark: SparkSession, certificates: Path) -> None:
    authority = (certificates / "ca.pem").read_bytes()
    known: dict[str, Any] = {
        "cert_chain": (certificates / "client.pem").read_bytes(),
        "private_key": (certificates / "client.key").read_bytes(),
    }
    with pyspark_substrait.serve(
        spark,
        host="localhost",
        certificate=certificates / "server.pem",
        key=certificates / "server.key",
        client_authority=certificates / "ca.pem",
    ) as server:
        assert server.token is None
        with RawClient(server.uri, None, tls_root_certs=authority, **known) as client:
            assert client.table(CATALOGS).num_rows == 2
        with (
            RawClient(server.uri, None, tls_root_certs=authority) as client,
            pytest.raises(flight.FlightUnavailableError),
        ):
            client.table(CATALOGS)


# what is refused at the start -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"host": "0.0.0.0"}, "would send everything unencrypted"),
        ({"host": "0.0.0.0", "insecure": 1}, "would send everything unencrypted"),
        ({"host": "0.0.0.0", "passwords": {"a": "b"}, "insecure": 1}, "would send everything unencrypted"),
        ({"certificate": "x"}, "a certificate and its key belong together"),
        ({"certificate": "/missing.pem", "key": "/missing.key"}, r"/missing\.pem cannot be read"),
        ({"client_authority": "x"}, "clients show certificates to a server that has one"),
        ({"host": "no.such.host.invalid"}, r"there is no address no\.such\.host\.invalid"),
    ],
)
def test_what_is_insecure_or_wrong(given: dict[str, Any], message: str) -> None:
    with pytest.raises(pyspark_substrait.SubstraitError, match=message):
        pyspark_substrait.serve(None, **given)


def test_nobody_is_asked_where_that_is_said(spark: SparkSession) -> None:
    with pyspark_substrait.serve(spark, insecure=1) as server, RawClient(server.uri, None) as client:
        assert server.token is None
        assert client.table(CATALOGS).num_rows == 2
        with pytest.raises(
            pyspark_substrait.SubstraitError, match=f"the server cannot listen at 127.0.0.1:{server.port}"
        ):
            pyspark_substrait.serve(spark, port=server.port)


# handles --------------------------------------------------------------------------------------------------------------


def test_handles_are_bounded_and_forgotten() -> None:
    now = [0.0]
    handles: Handles[str] = Handles("ticket", 2, 10, lambda: now[0])
    first, second = handles.add("a", "ana"), handles.add("b", "bob")
    with pytest.raises(Unavailable, match="there are 2 tickets already"):
        handles.add("c", "ana")
    now[0] = 6
    assert handles.get(first, "ana") == "a"
    with pytest.raises(NotFound):
        handles.get(first, "bob")
    now[0] = 11
    with pytest.raises(NotFound):
        handles.get(second, "bob")
    assert handles.get(handles.add("c", "ana"), None) == "c"
    assert handles.remove(first, "ana") == "a"
    with pytest.raises(NotFound):
        handles.remove(first, "ana")
    assert len({first, second}) == 2 and len(first) >= 43
