"""The group resource.k8s.io: devices, device classes, and resource claims."""
