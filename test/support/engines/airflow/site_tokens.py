"""Verifies a bearer token of the site by its published keys; returns the subject."""

import json
import os
import urllib.request
from functools import lru_cache

import jwt
from jwt.algorithms import ECAlgorithm, OKPAlgorithm

# RFC 9864: the site names the curve, where PyJWT knows the family alone.
jwt.register_algorithm("Ed25519", OKPAlgorithm())
READERS = {"Ed25519": OKPAlgorithm.from_jwk, "ES384": ECAlgorithm.from_jwk}


@lru_cache(maxsize=1)
def _read_keys():
    with urllib.request.urlopen(os.environ["SITE_JWKS_URL"], timeout=20) as answer:
        keys = json.load(answer)["keys"]
    return {key["kid"]: READERS[key["alg"]](key) for key in keys if key["alg"] in READERS}


def find_subject(token):
    """Raises jwt.PyJWTError for a token that the site did not make for Airflow, or that is over."""
    key = _read_keys().get(jwt.get_unverified_header(token).get("kid"))
    if key is None:
        raise jwt.InvalidTokenError("unknown key")
    claims = jwt.decode(
        token,
        key,
        algorithms=list(READERS),
        audience="airflow",
        issuer=os.environ["SITE_ISSUER"],
        leeway=10,
        options={"require": ["exp", "iss", "sub", "aud"]},
    )
    return claims["sub"]
