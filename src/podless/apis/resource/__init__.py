"""The rules of resource.k8s.io: devices, classes of them, and claims to them."""
