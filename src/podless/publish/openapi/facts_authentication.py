"""What is published of the structs of authentication.k8s.io; see facts.py."""

# ruff: noqa: E501

from __future__ import annotations

from podless.publish.openapi.fact import AUTHENTICATION, Fact

FACTS: dict[str, Fact] = {
    AUTHENTICATION + "TokenReview": Fact(
        "TokenReview attempts to authenticate a token to a known user. Note: TokenReview requests may be cached by the webhook token authenticator plugin in the kube-apiserver.",
        ("spec",),
        {
            "metadata": "metadata is the standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "spec": "spec holds information about the request being evaluated",
            "status": "status is filled in by the server and indicates whether the request can be authenticated.",
        },
    ),
    AUTHENTICATION + "TokenReviewSpec": Fact(
        "TokenReviewSpec is a description of the token authentication request.",
        (),
        {
            "token": "token is the opaque bearer token.",
            "audiences": "audiences is a list of the identifiers that the resource server presented with the token identifies as. Audience-aware token authenticators will verify that the token was intended for at least one of the audiences in this list. If no audiences are provided, the audience will default to the audience of the Kubernetes apiserver.",
        },
        {"audiences": {"x-kubernetes-list-type": "atomic"}},
    ),
    AUTHENTICATION + "TokenReviewStatus": Fact(
        "TokenReviewStatus is the result of the token authentication request.",
        (),
        {
            "authenticated": "authenticated indicates that the token was associated with a known user.",
            "user": "user is the UserInfo associated with the provided token.",
            "audiences": 'audiences are audience identifiers chosen by the authenticator that are compatible with both the TokenReview and token. An identifier is any identifier in the intersection of the TokenReviewSpec audiences and the token\'s audiences. A client of the TokenReview API that sets the spec.audiences field should validate that a compatible audience identifier is returned in the status.audiences field to ensure that the TokenReview server is audience aware. If a TokenReview returns an empty status.audience field where status.authenticated is "true", the token is valid against the audience of the Kubernetes API server.',
            "error": "error indicates that the token couldn't be checked",
        },
        {"audiences": {"x-kubernetes-list-type": "atomic"}},
    ),
    AUTHENTICATION + "UserInfo": Fact(
        "UserInfo holds the information about the user needed to implement the user.Info interface.",
        (),
        {
            "username": "username is the name that uniquely identifies this user among all active users.",
            "uid": "uid is a unique value that identifies this user across time. If this user is deleted and another user by the same name is added, they will have different UIDs.",
            "groups": "groups is the names of groups this user is a part of.",
            "extra": "extra is any additional information provided by the authenticator.",
        },
        {"groups": {"x-kubernetes-list-type": "atomic"}},
    ),
    AUTHENTICATION + "TokenRequest": Fact(
        "TokenRequest requests a token for a given service account.",
        (),
        {
            "metadata": "metadata is the standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "spec": "spec holds information about the request being evaluated",
            "status": "status is filled in by the server and indicates whether the token can be authenticated.",
        },
    ),
    AUTHENTICATION + "TokenRequestSpec": Fact(
        "TokenRequestSpec contains client provided parameters of a token request.",
        (),
        {
            "audiences": "audiences are the intendend audiences of the token. A recipient of a token must identify themself with an identifier in the list of audiences of the token, and otherwise should reject the token. A token issued for multiple audiences may be used to authenticate against any of the audiences listed but implies a high degree of trust between the target audiences.",
            "expirationSeconds": "expirationSeconds is the requested duration of validity of the request. The token issuer may return a token with a different validity duration so a client needs to check the 'expiration' field in a response.",
            "boundObjectRef": "boundObjectRef is a reference to an object that the token will be bound to. The token will only be valid for as long as the bound object exists. NOTE: The API server's TokenReview endpoint will validate the BoundObjectRef, but other audiences may not. Keep ExpirationSeconds small if you want prompt revocation.",
        },
        {"audiences": {"x-kubernetes-list-type": "atomic"}},
    ),
    AUTHENTICATION + "TokenRequestStatus": Fact(
        "TokenRequestStatus is the result of a token request.",
        (),
        {
            "token": "token is the opaque bearer token.",
            "expirationTimestamp": "expirationTimestamp is the time of expiration of the returned token.",
        },
    ),
    AUTHENTICATION + "BoundObjectReference": Fact(
        "BoundObjectReference is a reference to an object that a token is bound to.",
        (),
        {
            "kind": "kind of the referent. Valid kinds are 'Pod' and 'Secret'.",
            "apiVersion": "apiVersion is API version of the referent.",
            "name": "name of the referent.",
            "uid": "uid of the referent.",
        },
    ),
    AUTHENTICATION + "SelfSubjectReview": Fact(
        "SelfSubjectReview contains the user information that the kube-apiserver has about the user making this request. When using impersonation, users will receive the user info of the user being impersonated.  If impersonation or request header authentication is used, any extra keys will have their case ignored and returned as lowercase.",
        (),
        {
            "metadata": "metadata is standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "status": "status is filled in by the server with the user attributes.",
        },
    ),
    AUTHENTICATION + "SelfSubjectReviewStatus": Fact(
        "SelfSubjectReviewStatus is filled by the kube-apiserver and sent back to a user.",
        (),
        {
            "userInfo": "userInfo is a set of attributes belonging to the user making this request.",
        },
    ),
}
