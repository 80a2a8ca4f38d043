"""Objects from one server of the Kubernetes API to files, and from files to another one."""
