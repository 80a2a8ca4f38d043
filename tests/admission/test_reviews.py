"""Questions about a namespace need none; what only has their name does."""

from __future__ import annotations

from tests.conftest import CRDS, Client, definition

GROUP = "reviews.example.com"


def test_a_custom_kind_with_the_name_of_a_review_needs_its_namespace(client: Client) -> None:
    plural = "localsubjectaccessreviews"
    assert client.post(CRDS, definition(GROUP, plural, "Looks")).status == 201
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Looks", "metadata": {"name": "a"}}
    answer = client.post(f"/apis/{GROUP}/v1/namespaces/nowhere/{plural}", body)
    assert (answer.status, answer.body["message"]) == (404, 'namespaces "nowhere" not found')
