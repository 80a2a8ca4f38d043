"""The example of docs/how-to/admission.md, with kubectl."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
CRONTAB = """
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: many}
spec: {cronSpec: "* * * * */5", image: my-image, replicas: 6}
"""


def test_the_documented_policy_does_what_it_says(kubectl: Any) -> None:
    (policy,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "how-to" / "admission.md").read_text(), re.DOTALL)
    kubectl("apply", "-f", str(ROOT / "docs" / "examples" / "crontab-crd.yaml"))
    kubectl("wait", "--for=condition=Established", "crd/crontabs.stable.example.com")
    applied = kubectl("apply", "-f", "-", stdin=policy)
    try:
        assert "few-replicas created" in applied
        refused = kubectl("create", "--dry-run=server", "-f", "-", stdin=CRONTAB)
        text = "ValidatingAdmissionPolicy 'few-replicas' with binding 'few-replicas' denied request"
        assert f"{text}: at most 5 replicas, not 6" in refused
        fewer = CRONTAB.replace("replicas: 6", "replicas: 5")
        assert "created (server dry run)" in kubectl("create", "--dry-run=server", "-f", "-", stdin=fewer)
    finally:
        deleted = kubectl("delete", "-f", "-", stdin=policy)
    assert 'validatingadmissionpolicy.admissionregistration.k8s.io "few-replicas" deleted' in deleted
