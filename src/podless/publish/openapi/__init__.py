"""OpenAPI documents of the served kinds: version 3 (one for each group-version) and version 2 (one for all).

Answers, as recorded:

- /openapi/v3 lists the group-versions: {"paths": {"apis/group/version": {"serverRelativeURL": "...?hash=HASH"}}};
  its type is text/plain. Groups whose definitions are not established yet are not in it.
- /openapi/v3/apis/group/version (api/v1 for the core group) is the document. Pages, which are no group-versions, have
  documents as well: api, apis, apis/group, version, openid/v1/jwks, .well-known/openid-configuration. 404 without type
  and body if no kind is served in it; 406 likewise if Accept allows no form. Any method is answered like GET.
- With ?hash=HASH of the current document: Cache-Control "public, immutable" and Expires in a year; of another one:
  301 to the current one, without a body. Without it: neither. The ETag is the hash in quotes; If-None-Match gives 304.
- /openapi/v2 has an ETag and no hash.

The hash is not that of the bytes. It is computed from the document's sources (v3.encode_kind: names, version, schema,
podless' version), so that the index of a thousand definitions does not build a thousand documents.

The modules: schema (a custom kind's schema in both versions), builtin (components of built-in kinds and those that all
kinds share, from their structs), routes (paths and operations in neither form), pages (those of no kind), standard
(shared names), v3 and v2 (the content of documents), gnostic (the same in protobuf), documents (documents that are
joined from parts while they are sent), serve (HTTP). All are pure functions except serve.DocumentLibrary, which keeps
the documents. Descriptions of fields come from structs/structfiles.py.
"""
