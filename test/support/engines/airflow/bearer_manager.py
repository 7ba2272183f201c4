"""Authentication of Airflow 3: a bearer token of the site names the user. Workers have tokens of Airflow, which it verifies elsewhere."""

import asyncio

import jwt
from site_tokens import find_subject

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser


class BearerManager(SimpleAuthManager):
    async def get_user_from_token(self, token: str):
        try:
            return SimpleAuthManagerUser(username=await asyncio.to_thread(find_subject, token), role="OP")
        except jwt.PyJWTError as error:
            raise jwt.InvalidTokenError(str(error))
