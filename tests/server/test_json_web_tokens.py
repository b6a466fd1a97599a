"""Tokens of an identity provider. They are signed here step by step, without the library that reads them."""

from __future__ import annotations

import hmac
import json
import os
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from pyarrow import flight

import pyspark_substrait
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.server.json_web_tokens import TokenVerifier
from pyspark_substrait.server.refusals import Unauthenticated
from tests.server.clients import RawClient, command

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RSA, OTHER_RSA = (rsa.generate_private_key(65537, 2048) for _ in range(2))
P256 = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
Signer = Callable[[bytes], bytes]


def b64(content: bytes | int) -> str:
    """Base64url without padding; of a number, its bytes (RFC 7518, section 2)."""
    if isinstance(content, int):
        content = content.to_bytes((content.bit_length() + 7) // 8, "big")
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def rs256(key: rsa.RSAPrivateKey) -> Signer:
    return lambda content: key.sign(content, padding.PKCS1v15(), hashes.SHA256())


def ps512(content: bytes) -> bytes:
    return RSA.sign(content, padding.PSS(padding.MGF1(hashes.SHA512()), 64), hashes.SHA512())


def es256(content: bytes) -> bytes:
    return b"".join(n.to_bytes(32, "big") for n in decode_dss_signature(P256.sign(content, ec.ECDSA(hashes.SHA256()))))


def signed(sign: Signer, claims: Mapping[str, Any], **header: Any) -> str:
    """A token in the compact form (RFC 7515, section 7.1); without a name of the key where that is None."""
    header = {"alg": "RS256", "kid": "r", **header}
    if header["kid"] is None:
        del header["kid"]
    content = ".".join(b64(json.dumps(part).encode()) for part in (header, claims))
    return f"{content}.{b64(sign(content.encode()))}"


def rsa_key(key: rsa.RSAPrivateKey, **more: Any) -> dict[str, Any]:
    numbers = key.public_key().public_numbers()
    return {"kty": "RSA", "n": b64(numbers.n), "e": b64(numbers.e), **more}


def public(key: Any) -> bytes:
    found: bytes = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return found


POINT = P256.public_key().public_numbers()
KEYS = [
    rsa_key(RSA, kid="r", use="sig"),
    {
        "kty": "EC",
        "crv": "P-256",
        "x": b64(POINT.x.to_bytes(32, "big")),
        "y": b64(POINT.y.to_bytes(32, "big")),
        "kid": "e",
    },
    {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": b64(ED.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)),
        "kid": "o",
    },
    rsa_key(OTHER_RSA, kid="encryption", use="enc"),
    {"kty": "of tomorrow", "kid": "x"},
]


def claims(**changed: Any) -> dict[str, Any]:
    """Right claims, changed; without those that are None."""
    found = {
        "sub": "ana",
        "aud": ["spark", "other"],
        "iss": "https://id.example",
        "exp": int(time.time()) + 600,
        **changed,
    }
    return {name: value for name, value in found.items() if value is not None}


def written(folder: Path, keys: Any) -> Path:
    file = folder / "keys.json"
    file.write_text(json.dumps({"keys": keys}))
    return file


@pytest.fixture
def verifier(tmp_path: Path) -> TokenVerifier:
    return TokenVerifier(written(tmp_path, KEYS), "spark", "https://id.example", "sub")


def refusal(verifier: TokenVerifier, token: str) -> str:
    """Why a token is refused. (pytest can't show these errors, which have no traceback.)"""
    try:
        return f"it is taken, as {verifier.user(token)}"
    except Unauthenticated as error:
        return str(error)


def test_right_tokens(verifier: TokenVerifier) -> None:
    for sign, header in (
        (rs256(RSA), {}),
        (ps512, {"alg": "PS512"}),
        (es256, {"alg": "ES256", "kid": "e"}),
        (ED.sign, {"alg": "EdDSA", "kid": "o"}),
    ):
        assert refusal(verifier, signed(sign, claims(), **header)) == "it is taken, as ana"
    assert refusal(verifier, signed(rs256(RSA), claims(aud="spark", nbf=int(time.time())))) == "it is taken, as ana"


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (lambda: signed(rs256(OTHER_RSA), claims()), "the signature of the token is wrong"),
        (lambda: signed(rs256(RSA), claims(exp=int(time.time()) - 60)), "the token has expired"),
        (lambda: signed(rs256(RSA), claims(exp=None)), "the token has no claim `exp`"),
        (lambda: signed(rs256(RSA), claims(exp="soon")), "is not one that this server understands"),
        (lambda: signed(rs256(RSA), claims(nbf=int(time.time()) + 600)), "the token is not valid yet"),
        (lambda: signed(rs256(RSA), claims(aud="billing")), "the token is for another audience"),
        (lambda: signed(rs256(RSA), claims(aud=None)), "the token has no claim `aud`"),
        (lambda: signed(rs256(RSA), claims(iss="https://evil.example")), "the token is of another issuer"),
        (lambda: signed(rs256(RSA), claims(iss=None)), "the token has no claim `iss`"),
        (lambda: signed(rs256(RSA), claims(sub=None)), "the token has no claim `sub`"),
        (lambda: signed(rs256(RSA), claims(sub=" ")), "the claim `sub` of the token is no name of a user"),
        (lambda: signed(lambda content: b"", claims(), alg="none"), "that its key is not for"),
        (lambda: signed(lambda content: b"", claims(), alg="NONE"), "that its key is not for"),
        (lambda: signed(lambda content: b"", claims(), alg=None), "that its key is not for"),
        (lambda: signed(lambda content: b"", claims(), alg=["RS256"]), "that its key is not for"),
        (lambda: signed(lambda content: b"", claims()), "the signature of the token is wrong"),
        (
            lambda: signed(lambda content: hmac.digest(public(RSA), content, "sha256"), claims(), alg="HS256"),
            "that its key is not for",
        ),
        (lambda: signed(es256, claims(), alg="ES256"), "that its key is not for"),  # by the name of the RSA key
        (lambda: signed(rs256(OTHER_RSA), claims(), kid="encryption"), "with a key that this server does not have"),
        (lambda: signed(rs256(OTHER_RSA), claims(), kid={"a": 1}), "neither one of this server nor|does not have"),
        (lambda: signed(rs256(RSA), claims(), kid=None), "the token names no key"),
        (lambda: signed(rs256(RSA), claims(), crit=["x"], x=1), "critical extensions|understands|nor a JSON Web Token"),
        (  # a key that the token brings along
            lambda: signed(rs256(OTHER_RSA), claims(), jwk=rsa_key(OTHER_RSA), jku="https://evil.example/keys"),
            "the signature of the token is wrong",
        ),
        (lambda: "..", "neither one of this server nor a JSON Web Token"),
        (lambda: "a.b.c", "neither one of this server nor a JSON Web Token"),
    ],
)
def test_wrong_tokens(token: Callable[[], str], message: str, verifier: TokenVerifier) -> None:
    assert re.search(message, refusal(verifier, token()))


def test_a_changed_byte_anywhere_is_seen(verifier: TokenVerifier) -> None:
    token = signed(rs256(RSA), claims())
    for place in range(0, len(token) - 2, 7):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        assert "it is taken" not in refusal(verifier, changed)


def test_the_example_of_the_standard(tmp_path: Path) -> None:
    """RFC 7515, appendix A.3: the signature is right, and the time is over."""
    key = {
        "kty": "EC",
        "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    }
    token = (
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        "cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )
    verifier = TokenVerifier(written(tmp_path, [key]), "spark", None, "iss")
    assert refusal(verifier, token) == "the token has expired"
    assert refusal(verifier, token[:-3] + "AAA") == "the signature of the token is wrong"


def test_a_key_without_a_name_and_another_claim(tmp_path: Path) -> None:
    verifier = TokenVerifier(written(tmp_path, [rsa_key(RSA)]), "spark", None, "email")
    for header in ({}, {"kid": None}):
        token = signed(rs256(RSA), claims(email="a@b", iss=None, sub=None), **header)
        assert refusal(verifier, token) == "it is taken, as a@b"


def test_keys_change_with_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = written(tmp_path, KEYS)
    verifier = TokenVerifier(file, "spark", None, "sub")
    old, new = signed(rs256(RSA), claims()), signed(rs256(OTHER_RSA), claims(), kid="new")
    assert refusal(verifier, old) == "it is taken, as ana"
    file.write_text("{")
    assert refusal(verifier, old) == "it is taken, as ana"
    assert "the keys of tokens stay as they were" in caplog.text
    written(tmp_path, [rsa_key(OTHER_RSA, kid="new")])
    os.utime(file, ns=(1, 1))
    assert refusal(verifier, new) == "it is taken, as ana"
    assert "with a key that this server does not have" in refusal(verifier, old)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([], "has no key for signatures"),
        ([rsa_key(RSA, use="enc")], "has no key for signatures"),
        ([rsa_key(RSA, alg="RSA-OAEP")], "has no key for signatures"),
        ([{"kty": "oct", "k": "c2VjcmV0"}], "has a secret key"),
        ([rsa_key(RSA, d="AQAB")], "has a secret key"),
        ([rsa_key(rsa.generate_private_key(65537, 1024))], "has an RSA key of 1024 bits: 2048 are the least"),
        ([rsa_key(RSA, kid="a"), rsa_key(OTHER_RSA, kid="a")], "several keys of the same name"),
        ([{"kty": "RSA", "n": "!", "e": "AQAB"}], "is no JSON Web Key Set"),
        ([{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}], "is no JSON Web Key Set"),
        ("text", "is no JSON Web Key Set"),
        (7, "is no JSON Web Key Set"),
    ],
)
def test_wrong_key_sets(keys: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(SubstraitError, match=message):
        pyspark_substrait.serve(None, jwt_keys=written(tmp_path, keys), jwt_audience="spark")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"jwt_keys": "k"}, "tokens that their issuer made for other services would be taken"),
        ({"jwt_audience": "spark"}, "there are conditions for JSON Web Tokens, and no keys"),
        ({"jwt_keys": "k", "jwt_audience": "a", "jwt_issuer": ""}, "is empty"),
        ({"jwt_keys": "/missing.json", "jwt_audience": "a"}, r"/missing\.json cannot be read"),
    ],
)
def test_what_is_given(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SubstraitError, match=message):
        pyspark_substrait.serve(None, **given)


def test_a_server_takes_them(spark: SparkSession, tmp_path: Path) -> None:
    catalogs = command("CommandGetCatalogs")
    file = written(tmp_path, KEYS)
    with pyspark_substrait.serve(spark, jwt_keys=file, jwt_audience="spark", tokens={"bob": "x.y.z"}) as server:
        assert server.token is None
        for token in (signed(rs256(RSA), claims()), "x.y.z"):
            with RawClient(server.uri, token) as client:
                assert client.table(catalogs).num_rows == 2
        for token, message in (
            (signed(rs256(OTHER_RSA), claims()), "the signature of the token is wrong"),
            (signed(rs256(RSA), claims(exp=0)), "the token has expired"),
            ("nothing", "is not one of this server"),
        ):
            with (
                RawClient(server.uri, token) as client,
                pytest.raises(flight.FlightUnauthenticatedError, match=message),
            ):
                client.table(catalogs)
