"""API authentication of Airflow 2: a bearer token of the site names the user."""

from functools import wraps

import jwt
from flask import Response, request
from flask_login import login_user
from site_tokens import find_subject

from airflow.www.extensions.init_auth_manager import get_auth_manager

CLIENT_AUTH = None


def init_app(_):
    pass


def _find_user(token):
    security = get_auth_manager().security_manager
    name = find_subject(token)
    known = security.find_user(username=name)
    return known or security.add_user(name, name, "site", f"{name}@site.invalid", security.find_role("Op"))


def requires_authentication(function):
    @wraps(function)
    def decorated(*args, **kwargs):
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            if scheme.lower() != "bearer":
                raise jwt.InvalidTokenError("no bearer token")
            user = _find_user(token.strip())
            if not user:
                raise jwt.InvalidTokenError("no user")
        except jwt.PyJWTError as error:
            return Response(f"Unauthorized: {error}", 401, {"WWW-Authenticate": "Bearer"})
        login_user(user, remember=False)
        return function(*args, **kwargs)

    return decorated
