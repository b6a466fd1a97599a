"""The commands for a server: start one, and print the line of a user."""

from __future__ import annotations

import logging
import secrets
import signal
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

import pyspark_substrait
from pyspark_substrait.cli.files import plan_source
from pyspark_substrait.cli.options import (
    FUNCTIONS,
    Session,
    limit_option,
    table_paths,
    with_options,
    with_session,
    with_tables,
)
from pyspark_substrait.cli.output import print_text
from pyspark_substrait.server.limits import ServerLimits

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["serve", "serve_user"]

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

_WHO = with_options(
    click.option(
        "--password-file", type=_FILE, help="Users and hashes of their passwords, as `serve-user` prints them."
    ),
    click.option("--token-file", type=_FILE, help="Users and hashes of their bearer tokens, likewise."),
    click.option(
        "--jwt-keys",
        type=_FILE,
        help="Take JSON Web Tokens that these public keys confirm: a JSON Web Key Set; needs --jwt-audience and the "
        "extra `serve`.",
    ),
    click.option("--jwt-audience", metavar="TEXT", help="Whom these tokens must be for (their claim `aud`)."),
    click.option("--jwt-issuer", metavar="TEXT", help="Whose they must be (`iss`); by default of whoever has a key."),
    click.option("--jwt-user-claim", metavar="NAME", help="The claim that names their user (`sub`)."),
    click.option("--tls-cert", type=_FILE, help="The server's certificate, in PEM; needs --tls-key."),
    click.option("--tls-key", type=_FILE, help="The key of the certificate, in PEM."),
    click.option(
        "--client-ca", type=_FILE, help="Ask clients for a certificate of this authority (mutual TLS), in PEM."
    ),
    click.option(
        "--insecure",
        count=True,
        help="Ask nobody who they are, or send everything unencrypted. On an address that other machines reach, say it "
        "twice.",
    ),
)
_WHAT = with_options(
    click.option(
        "--view",
        "views",
        metavar="NAME=PLAN",
        multiple=True,
        help="A plan whose result plans and SQL can read under this name. Repeatable.",
    ),
    click.option("--allow-sql", is_flag=True, help="Take SQL as well. It may do whatever the session may."),
    click.option("--allow-writes", is_flag=True, help="Take statements that change something."),
)


_LIMITS = with_options(
    *map(limit_option, fields(ServerLimits)),
    click.option(
        "--drain",
        metavar="S",
        type=click.FloatRange(min=0),
        default=10.0,
        help="How long running requests may take to end when the server stops (10 seconds).",
    ),
)
_METRICS = with_options(
    click.option(
        "--metrics-port",
        metavar="PORT",
        type=click.IntRange(0, 65535),
        help="Answer /healthz and /metrics (Prometheus) over plain HTTP at this port; needs the extra `serve`.",
    ),
    click.option(
        "--metrics-host", metavar="HOST", help="The address of that port; by default, only this machine reaches it."
    ),
)


@click.command(short_help="Serve Spark to other programs, over Flight SQL.")
@click.option("--host", default="127.0.0.1", help="The address to listen at; by default, only this machine reaches it.")
@click.option("--port", type=click.IntRange(0, 65535), default=31337, help="The port (31337); 0 for one that is free.")
@with_tables
@_WHAT
@_WHO
@_LIMITS
@_METRICS
@FUNCTIONS
@with_session
def serve(
    host: str,
    port: int,
    tables: tuple[str, ...],
    allowed: tuple[str, ...],
    views: tuple[str, ...],
    allow_sql: bool,
    allow_writes: bool,
    password_file: Path | None,
    token_file: Path | None,
    jwt_keys: Path | None,
    jwt_audience: str | None,
    jwt_issuer: str | None,
    jwt_user_claim: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    client_ca: Path | None,
    insecure: int,
    drain: float,
    metrics_port: int | None,
    metrics_host: str | None,
    registry: Registry | None,
    master: str | None,
    remote: str | None,
    progress: bool | None,
    **limits: Any,
) -> None:
    """Serve Spark over Flight SQL: plans and SQL of programs in any language, answered in Arrow.

    Without users, a bearer token is made and printed. Each request is a line on standard error. Ctrl-C or SIGTERM stops
    the server.

    \b
    Examples:
      pyspark-substrait serve --table orders=orders.parquet
      pyspark-substrait serve --allow-sql --view sales=plan.json --table orders=orders.parquet
      pyspark-substrait serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --password-file users
      pyspark-substrait serve --remote sc://spark.example.com:15002
    """
    paths, plans = table_paths(tables), _views(views)
    _log_requests()
    server = pyspark_substrait.serve(
        Session(master, remote, progress).start,
        tables=paths,
        views=plans,
        host=host,
        port=port,
        allowed_paths=allowed,
        allow_sql=allow_sql,
        allow_writes=allow_writes,
        registry=registry,
        password_file=password_file,
        token_file=token_file,
        jwt_keys=jwt_keys,
        jwt_audience=jwt_audience,
        jwt_issuer=jwt_issuer,
        jwt_user_claim=jwt_user_claim,
        certificate=tls_cert,
        key=tls_key,
        client_authority=client_ca,
        insecure=insecure,
        metrics_port=metrics_port,
        metrics_host=metrics_host,
        **limits,
    )
    signal.signal(signal.SIGTERM, _interrupt)
    print_text(f"serving at {server.uri}" + (f" with the token {server.token}" if server.token else ""), err=True)
    if server.metrics_uri is not None:
        print_text(f"metrics at {server.metrics_uri}/metrics", err=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        print_text("stopping", err=True)
    finally:
        server.stop(seconds=drain)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _log_requests() -> None:
    """Print the log of the server on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logger = logging.getLogger("pyspark_substrait.server")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def _views(texts: tuple[str, ...]) -> dict[str, Path | bytes]:
    """Return plans by the names of views, from the options.

    Raises:
        click.BadParameter: a text is not of the form NAME=PLAN, there is no such file, or a name is given twice.
    """
    plans: dict[str, Path | bytes] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise click.BadParameter(f"{text!r} is not of the form NAME=PLAN", param_hint="--view")
        if name in plans:
            raise click.BadParameter("a name is given twice", param_hint="--view")
        if not Path(path).is_file():
            raise click.BadParameter(f"{path} does not exist", param_hint="--view")
        plans[name] = plan_source(Path(path))
    return plans


@click.command("serve-user", short_help="Print the line of a user for `serve`.")
@click.argument("name")
@click.option("--token", "with_token", is_flag=True, help="Make a bearer token instead of asking for a password.")
def serve_user(name: str, with_token: bool) -> None:
    """Print the line of the user NAME for a password file or a token file of `serve`. Needs no Spark.

    The password is asked for. A token is made, and printed on standard error: the line has only its hash.

    \b
    Examples:
      pyspark-substrait serve-user ana >> passwords
      pyspark-substrait serve-user report --token >> tokens
    """
    from pyspark_substrait.server.hashes import hashed_password, hashed_token

    if ":" in name or not name.strip() or name.startswith("#"):
        raise click.BadParameter("a name is not empty, has no colon, and begins with no #", param_hint="NAME")
    if with_token:
        token = secrets.token_urlsafe(32)
        print_text(f"the token of {name}: {token}", err=True)
        print_text(f"{name}:{hashed_token(token)}")
        return
    password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    print_text(f"{name}:{hashed_password(password)}")
