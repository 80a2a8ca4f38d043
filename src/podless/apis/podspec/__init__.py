"""PodSpec, common to pods and workloads: defaults, validation and warnings."""
