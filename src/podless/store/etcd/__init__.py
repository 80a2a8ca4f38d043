"""The engine for many servers: etcd 3.4 or later, with the keys and values of kube-apiserver.

Imported only if it is used.
"""
