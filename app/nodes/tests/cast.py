"""An agent's side of the API for tests: it enrols and signs as the real one does."""

import base64
import itertools
import json
import secrets
import time

from agents.portal.wire import ENROL_NONCE, canonical, fingerprint, sign_request, verify_answer
from app.nodes.keys import issue_token


class Agent:
    """Speaks through `post(path, body, headers) -> (status, headers, body)`, so that a test chooses client or socket."""

    def __init__(self, post, node="oss01"):
        self.post, self.node = post, node
        self.key = secrets.token_bytes(32)
        self.counter = itertools.count(1)

    def enrol(self, token=None, **more):
        token = issue_token(self.node, "test") if token is None else token
        enrolment = {"token": token, "node": self.node, "key": base64.b64encode(self.key).decode(), "hostname": "h", "version": "1"} | more
        status, headers, body = self.post("/agent/v1/enrol", canonical(enrolment), {})
        if status == 200:
            verify_answer(self.key, status, headers, body, ENROL_NONCE)
        return status, json.loads(body)

    def sign(self, path, body, *, method="POST", query="", created=None, counter=None):
        """Headers and the nonce that the answer must carry."""
        nonce = secrets.token_urlsafe(18)
        created = int(time.time()) if created is None else created
        counter = next(self.counter) if counter is None else counter
        return sign_request(self.key, fingerprint(self.key), method, path, query, body, created, nonce, counter), nonce

    def ask(self, path, value, *, body=None, more=(), **signing):
        body = canonical(value) if body is None else body
        headers, nonce = self.sign(path, body, **signing)
        status, answer_headers, answer = self.post(path, body, headers | dict(more))
        if status not in (401, 405, 413) and not (
            status == 503 and "Signature" not in answer_headers
        ):  # without a key of ours nobody signs
            verify_answer(self.key, status, answer_headers, answer, nonce)
        return status, json.loads(answer)


def through(client):
    """`post` by Django's test client."""

    def post(path, body, headers):
        response = client.post(path, body, content_type="application/json", headers=headers)
        return response.status_code, dict(response.headers), response.content

    return post
