"""Google's own SDK for backends, aimed at a gateway: prints already_consumed of each use of a token."""
import sys

import firebase_admin
import google.auth.credentials
from firebase_admin import app_check, credentials

url, project, secret, uses = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
token = sys.stdin.read().strip()


class Bearer(google.auth.credentials.Credentials):
    """Sends the secret as Google's credentials send their access token."""

    def refresh(self, request):
        self.token = secret


class Own(credentials.Base):
    def get_credential(self):
        bearer = Bearer()
        bearer.token = secret
        return bearer


service = app_check._AppCheckService
service._JWKS_URL = url + "/v1/jwks"
service._VERIFY_URL_FORMAT = url + "/v1beta/projects/{project_id}:verifyAppCheckToken"
firebase_admin.initialize_app(Own(), {"projectId": project})
for _ in range(uses):
    try:
        claims = app_check.verify_token(token, consume=True)
        print(claims["already_consumed"])
    except Exception as error:
        print(type(error).__name__, error)
