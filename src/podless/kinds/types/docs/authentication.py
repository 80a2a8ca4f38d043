"""Texts of authentication.k8s.io: who somebody is."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "TokenReview": {
        "": "Asks whose token this is. Nothing is stored.",
        "spec": "The token.",
        "status": "The answer.",
    },
    "TokenReviewSpec": {
        "": "A token to be judged.",
        "audiences": "For whom the token should be; for the API server where nothing is given.",
        "token": "The token.",
    },
    "TokenReviewStatus": {
        "": "Whose token it is.",
        "audiences": "Those of the audiences asked about for whom the token is.",
        "authenticated": "Whether the token is good.",
        "error": "Why the token could not be judged.",
        "user": "Whose token it is.",
    },
    "UserInfo": {
        "": "A user, as the server knows him.",
        "extra": "Whatever else the authenticator knows, by key.",
        "groups": "The groups that the user is in.",
        "uid": "Tells this user from all others, also from earlier ones of the same name.",
        "username": "The user's name.",
    },
    "SelfSubjectReview": {
        "": "Asks who the asker is. Nothing is stored.",
        "status": "The answer.",
    },
    "SelfSubjectReviewStatus": {
        "": "Who the asker is.",
        "userInfo": "The asker, as the server knows him.",
    },
    "TokenRequest": {
        "": "Asks for a token of a service account.",
        "spec": "What the token should be like.",
        "status": "The token.",
    },
    "TokenRequestSpec": {
        "": "What a token should be like.",
        "audiences": "For whom the token is; nobody else should take it.",
        "boundObjectRef": "The object that the token holds as long as.",
        "expirationSeconds": "For how many seconds the token should hold; the server may choose another time.",
    },
    "TokenRequestStatus": {
        "": "A token that was asked for.",
        "expirationTimestamp": "Until when the token holds.",
        "token": "The token.",
    },
    "BoundObjectReference": {
        "": "An object that a token is bound to: a Pod, a Secret or a Node.",
        "apiVersion": "Group and version of the object.",
        "kind": "Kind of the object.",
        "name": "Name of the object.",
        "uid": "UID of the object.",
    },
}
