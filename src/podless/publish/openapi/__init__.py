"""OpenAPI documents of the kinds that are served, version 3 (one a group-version) and version 2 (one of all).

What a server answers, as recorded:

- /openapi/v3 lists the group-versions: {"paths": {"apis/group/version": {"serverRelativeURL": "...?hash=HASH"}}};
  its type is text/plain. Groups whose definitions are not established yet are not in it.
- /openapi/v3/apis/group/version (api/v1 for the core group) is the document; so are those of pages, which are no
  group-version: api, apis, apis/group, version, openid/v1/jwks, .well-known/openid-configuration. 404 with neither type
  nor body where no kind is served in it; 406 likewise for an Accept header that takes no form. Any method is answered
  like GET.
- With ?hash=HASH of the current document: Cache-Control "public, immutable" and Expires in a year; of another one:
  301 to the current one, without a body. Without it: neither. The ETag is the hash in quotes; If-None-Match gives 304.
- /openapi/v2 has an ETag and no hash.

The hash need not be that of the bytes: it is made of what goes into the document (v3.digest: names, version, schema
and this package's version), so that the index of a thousand definitions does not build a thousand documents.

The modules: schema (a custom kind's schema in both versions), builtin (components of built-in kinds and of what all
share, from their struct tables), routes (paths and operations in neither form), pages (those of no kind), standard
(names that all share), v3 and v2 (the documents), v3pb and v2pb (the same in protobuf, written with wire and blocks),
serve (HTTP). All are pure functions but serve.Library, which keeps what was built. Texts are those of publish/texts.py.
"""
