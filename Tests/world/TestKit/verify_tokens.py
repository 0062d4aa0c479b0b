"""Judges App Check tokens with firebase_admin, with PyJWT and with the openssl command line.

usage: verify_tokens.py JWKS CASES

CASES is a JSON list of {"name", "token", "alg", "projects": [..], "issuer"}. Prints a JSON object: by case, by judge,
"ok" or what the judge says against the token.
"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

import firebase_admin
import google.auth.credentials
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from firebase_admin import app_check, credentials


class Nobody(credentials.Base):
    """Local verification needs no credential, but an app wants one."""

    def get_credential(self):
        return google.auth.credentials.AnonymousCredentials()


def serve(path):
    """The key set as its own server gives it, on a free port. Returns its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            with open(path, "rb") as file:
                body = file.read()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1/jwks"


def firebase(case, project):
    try:
        app = firebase_admin.get_app(project)
    except ValueError:
        app = firebase_admin.initialize_app(Nobody(), {"projectId": project}, name=project)
    try:
        claims = app_check.verify_token(case["token"], app)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "ok" if claims["app_id"] == case["subject"] else f"app_id {claims['app_id']}"


def pyjwt(case, project, keys):
    try:
        kid = jwt.get_unverified_header(case["token"])["kid"]
        claims = jwt.decode(
            case["token"],
            keys[kid].key,
            algorithms=[case["alg"]],
            audience=f"projects/{project}",
            issuer=case["issuer"],
            options={"require": ["exp", "iat", "jti", "sub", "aud", "iss"]},
        )
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "ok" if claims["sub"] == case["subject"] else f"sub {claims['sub']}"


def openssl(case, keys):
    """The signature alone: openssl knows nothing of claims."""
    signed, _, signature = case["token"].rpartition(".")
    key = keys[jwt.get_unverified_header(case["token"])["kid"]].key
    signature = jwt.utils.base64url_decode(signature)
    if case["alg"] == "ES256":
        halves = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
        signature = encode_dss_signature(*halves)
    with tempfile.TemporaryDirectory() as folder:
        def write(name, content):
            path = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(content)
            return path

        pem = key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        command = ["openssl", "dgst", "-sha256", "-verify", write("key", pem)]
        command += ["-signature", write("signature", signature), write("signed", signed.encode())]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    return "ok" if result.returncode == 0 else result.stdout.strip() or result.stderr.strip()


def main():
    app_check._AppCheckService._JWKS_URL = serve(sys.argv[1])
    with open(sys.argv[1], encoding="utf-8") as file:
        keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(json.load(file)).keys}
    with open(sys.argv[2], encoding="utf-8") as file:
        cases = json.load(file)
    verdicts = {}
    for case in cases:
        judged = verdicts[case["name"]] = {"openssl": openssl(case, keys)}
        for project in case["projects"]:
            judged[f"firebase_admin {project}"] = firebase(case, project)
            judged[f"PyJWT {project}"] = pyjwt(case, project, keys)
    json.dump(verdicts, sys.stdout)


main()
