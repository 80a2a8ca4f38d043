"""The judgement of certificates, against two others: cryptography's verifier, and Go itself where it is installed."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from hypothesis import given, settings

from podless.remote import trust, verification
from tests.remote.chains import HOST, NOW, Chain, Drawn, chains
from tests.remote.test_trust import Made, make, told

ROOT = make("root", ca=True)
DIRECTORY = x509.DirectoryName(x509.Name([]))
# Go asks for what the verifier is not asked to look at
STRICTER = (
    "certificate specifies an incompatible key usage",
    "certificate signed by unknown authority (possibly because of",  # an authority whose key may not sign
    "unhandled critical extension",  # names of no kind that is judged
    "too many intermediates for path length constraint",  # the verifier counts none that is its own issuer
    "certificate is not authorized to sign other certificates",
    "a root or intermediate certificate is not authorized to sign for this name",  # by a wildcard
)


def said(chain: Chain, host: str = "") -> str:
    """What is said against a chain, of a client's certificate where there is no host; "" where it is trusted."""
    certificates, ders = chain.certificates(), chain.ders()
    sent = ders[:-1] or ders
    try:
        if host:
            trust.judge_server(sent, host, certificates[-1:], NOW)
        else:
            trust.judge_client(sent, certificates[-1:], NOW)
    except trust.Untrusted as error:
        return str(error).removeprefix("tls: failed to verify certificate: ").removeprefix("x509: ")
    return ""


@given(chains())
@settings(deadline=None)
def test_our_own_judgement_takes_nobody_whom_cryptography_refuses(chain: Chain) -> None:
    """Two judges agree before anybody is trusted; here the first one is heard alone."""
    certificates = chain.certificates()
    if not verification.has_say(certificates):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verification, "has_say", lambda chain: False)
        ours = said(chain)
    if verification.accepts_chain(certificates, NOW):
        assert not ours or ours.startswith(STRICTER), ours
    else:
        assert ours


@given(chains())
@settings(deadline=None)
def test_both_judges_agree(chain: Chain) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verification, "has_say", lambda chain: False)
        alone = said(chain)
    assert said(chain) == alone


def _below(authority: Made, *names: str, **given: object) -> list[Made]:
    return [make("leaf", authority, names=names or [HOST], **given), authority]  # type: ignore[arg-type]


def _limited(*permitted: x509.GeneralName, critical: bool = True) -> Made:
    limits = x509.NameConstraints(permitted, None)
    return make("root", ca=True, extensions=[(limits, critical)])


def _nameless() -> Made:
    return make("", ca=True)


def _own_limits() -> list[Made]:
    limits = x509.NameConstraints([x509.DNSName("other.org")], None)
    return _below(ROOT, extensions=[(limits, False)])


def _named(authority: Made, *names: x509.GeneralName) -> list[Made]:
    given = x509.SubjectAlternativeName([x509.DNSName(HOST), *names])
    return [make("leaf", authority, extensions=[(given, False)]), authority]


_MAILS, _MAILBOX = x509.RFC822Name._init_without_validation("b.c"), x509.RFC822Name("a@x.b.c")
_URI = x509.UniformResourceIdentifier("spiffe://b.c/d")
_DOMAIN = x509.UniformResourceIdentifier("b.c")
# chains from leaf to root, whether Go takes them, and whether the verifier does, which is not asked of any
DIFFERENCES: dict[str, tuple[Callable[[], list[Made]], bool, bool]] = {
    "a critical constraint of directory names": (lambda: _below(_limited(DIRECTORY)), False, False),
    "one that is not critical": (lambda: _named(_limited(DIRECTORY, critical=False), DIRECTORY), True, False),
    "a constraint of the mailboxes of a domain": (lambda: _named(_limited(_MAILS), _MAILBOX), True, False),
    "a constraint of URIs": (lambda: _named(_limited(_DOMAIN), _URI), True, False),
    "a constraint that begins with a dot": (lambda: _below(_limited(x509.DNSName(".example.com"))), True, False),
    "constraints that a leaf has for itself": (_own_limits, True, False),
    "an authority without a name": (lambda: _below(_nameless()), True, False),
    "keys that are not of the Web": (
        lambda: _below(make("root", ca=True, key=ed25519.Ed25519PrivateKey.generate())),
        True,
        False,
    ),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_where_cryptography_and_go_differ_go_is_right(case: str) -> None:
    build, go, verifier = DIFFERENCES[case]
    chain = build()
    certificates = [one.certificate for one in chain]
    assert verification.accepts_chain(certificates, NOW) is verifier
    assert not verification.has_say(certificates) or go is verifier
    assert (told(chain[:1], chain[-1:], HOST) == "") is go


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Chain, str], str]]:
    if shutil.which("go") is None:
        pytest.skip("no Go here")
    program = tmp_path_factory.mktemp("go") / "judge"
    subprocess.run(["go", "build", "-o", program, Path(__file__).with_name("judge.go")], check=True)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        requests, answers = running.stdin, running.stdout

        def ask(chain: Chain, host: str) -> str:
            ders = [base64.b64encode(der).decode() for der in chain.ders()]
            asked = {"Chain": ders[:-1] or ders, "Roots": ders[-1:], "Host": host, "Time": int(NOW.timestamp())}
            requests.write(json.dumps(asked).encode() + b"\n")
            requests.flush()
            return str(json.loads(answers.readline())).removeprefix("x509: ")

        yield ask
        requests.close()


@pytest.mark.clients
@pytest.mark.parametrize("host", ["", HOST])
def test_go_says_the_same(go: Callable[[Chain, str], str], host: str) -> None:
    @given(chains())
    @settings(deadline=None)
    def agree(chain: Chain) -> None:
        theirs, ours = go(chain, host), said(chain, host)
        assert bool(theirs) == bool(ours), (theirs, ours)

    agree()


def test_the_names_of_authorities_are_judged_too() -> None:
    parts = Drawn(names=(x509.DNSName(HOST),)), Drawn(basic=(True, None), names=(x509.DNSName("bad.org"),))
    limits = x509.NameConstraints(None, [x509.DNSName("bad.org")])
    root = Drawn(basic=(True, None), extensions=((limits, True),))
    assert said(Chain((*parts, root))) == (
        "a root or intermediate certificate is not authorized to sign for this name: "
        'DNS name "bad.org" is excluded by constraint "bad.org"'
    )
