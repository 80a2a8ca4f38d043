"""Texts of the ways in which containers are looked after."""

from __future__ import annotations

_PORT = "The container's port, by number or by the name that the container gives it."
_HOST = "The address to connect to; the pod's own where nothing is given."

TEXTS: dict[str, dict[str, str]] = {
    "ExecAction": {
        "": "A program that runs inside the container; exit code 0 is success.",
        "command": "The program and its arguments. There is no shell around it.",
    },
    "HTTPHeader": {
        "": "One header of a request.",
        "name": "The header's name.",
        "value": "The header's value.",
    },
    "HTTPGetAction": {
        "": "An HTTP GET; an answer from 200 to 399 is success.",
        "host": _HOST,
        "httpHeaders": "Headers to send along; a name may come several times.",
        "path": "The path to ask for; / where nothing is given.",
        "port": _PORT,
        "scheme": "HTTP or HTTPS; HTTP where nothing is given. Certificates are not checked.",
    },
    "TCPSocketAction": {
        "": "A TCP connection; it is success if it can be opened.",
        "host": _HOST,
        "port": _PORT,
    },
    "GRPCAction": {
        "": "A call of the gRPC health service; SERVING is success.",
        "port": "The port of the gRPC service, by number.",
        "service": "The service that the health request asks about; empty for the server as a whole.",
    },
    "Probe": {
        "": "A check that a container gets again and again.",
        "exec": "Runs a program in the container.",
        "failureThreshold": "How many failures in a row count as failed; 3 where nothing is given.",
        "grpc": "Calls the container's gRPC health service.",
        "httpGet": "Sends an HTTP request to the container.",
        "initialDelaySeconds": "Seconds from the container's start to the first check; 0 where nothing is given.",
        "periodSeconds": "Seconds from one check to the next; 10 where nothing is given.",
        "successThreshold": "How many successes in a row count as success after a failure; "
        "1 where nothing is given, and for liveness and startup always.",
        "tcpSocket": "Opens a TCP connection to the container.",
        "terminationGracePeriodSeconds": "Seconds that the container has to end after this probe has failed, in place "
        "of the pod's; not for readiness.",
        "timeoutSeconds": "Seconds after which a check without an answer has failed; 1 where nothing is given.",
    },
    "SleepAction": {
        "": "Waits, and does nothing else.",
        "seconds": "How many seconds to wait.",
    },
    "LifecycleHandler": {
        "": "What is done at a turn of a container's life: one of these.",
        "exec": "Runs a program in the container.",
        "httpGet": "Sends an HTTP request to the container.",
        "sleep": "Makes the container wait.",
        "tcpSocket": "Kept for old objects only: the step fails.",
    },
    "Lifecycle": {
        "": "What is done when a container has started, and before it ends.",
        "postStart": "Done right after the start; the container is killed if this fails.",
        "preStop": "Done before the container is told to end, within the grace period.",
        "stopSignal": "The signal that tells the container to end; the image's, or SIGTERM, where nothing is given.",
    },
}
