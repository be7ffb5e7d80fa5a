"""Who issued a release: ``certificate.sig``, a signature of ``certificate.json`` made and checked by ``ssh-keygen``.

The certificate has the hash of every file, so that one signature speaks for all of them. A signature proves who issued
the certificate. It proves neither that what the certificate says is true (``verify`` counts that again) nor that the
release is the latest one. Nothing here uses the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from setveil.core.regular_files import open_regular
from setveil.errors import InputError, one_line

NAMESPACE = "setveil"
SIGNATURE, CERTIFICATE = "certificate.sig", "certificate.json"
LARGEST_SIGNATURE = 2**16  # bytes; an RSA signature has about 3,000
PATIENCE = 120.0  # seconds to type a passphrase, or to touch a hardware key
QUICK = 20.0  # seconds to check a signature, which takes a hundredth of one
TOOL = "ssh-keygen"
NO_TOOL = f"{TOOL} is not installed; install OpenSSH 8.1 or newer."
NOT_AUTHENTICATED = "issuer not authenticated"
MEANING = "A signature proves who issued the certificate, not that it is true or the latest."
_KEY = re.compile(r"with \S+ key (SHA256:[A-Za-z0-9+/=]+)")


@dataclass(frozen=True)
class Signature:
    """What is known about the issuer of a release."""

    status: str  # "none", "valid", "invalid", "unknown signer" or "cannot be verified"
    signer: str | None = None  # as the file of signers names it
    key: str | None = None  # fingerprint
    note: str = ""  # for people
    problem: str = ""  # the release must not be trusted
    unchecked: str = ""  # why nothing can be said

    @property
    def is_authenticated(self) -> bool:
        """Whether the certificate was signed with a key of one of the signers."""
        return self.signer is not None

    def to_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        return {"authenticated": self.is_authenticated, **{name: fields[name] for name in ("status", "signer", "key")}}


def try_key(key: str | os.PathLike[str]) -> None:
    """Sign a few bytes, so that a wrong key is an error before the run and not after it."""
    _sign(Path(key), b"setveil tries this key before the run\n")


def sign_certificate(folder: Path, key: str | os.PathLike[str]) -> None:
    """Write ``certificate.sig`` beside the certificate."""
    signature = _sign(Path(key), (folder / CERTIFICATE).read_bytes())
    (folder / SIGNATURE).write_bytes(signature)


def _sign(key: Path, message: bytes) -> bytes:
    shown = one_line(str(key), 120)
    if not key.is_file():
        raise InputError(f"--sign {shown}: there is no such file; give a private key of OpenSSH.")
    done = _run(["-Y", "sign", "-q", "-n", NAMESPACE, "-f", str(key)], message, PATIENCE)
    if done is None:
        raise InputError(f"--sign {shown}: {NO_TOOL}")
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise InputError(f"--sign {shown}: {TOOL} cannot sign with it ({_reason(done)}); give a private key.")
    return done.stdout


def check_signature(folder: Path, signers: str | os.PathLike[str] | None = None) -> Signature:
    """Whether ``certificate.sig`` is a signature of the certificate, and by whom.

    ``signers``: a file in the format of OpenSSH's ``allowed_signers``. Without it the issuer is not authenticated.
    """
    if signers is not None and not Path(signers).is_file():
        raise InputError(f"--signers {one_line(str(signers), 120)}: there is no such file; see man ssh-keygen.")
    if not os.path.lexists(folder / SIGNATURE):
        if signers is None:
            return Signature("none", note=f"{NOT_AUTHENTICATED}: the certificate is not signed.")
        return Signature("none", problem=f"{SIGNATURE}: missing; --signers asks for a signature.")
    try:
        with open_regular(folder / SIGNATURE) as file, open_regular(folder / CERTIFICATE) as certificate:
            signature, message = file.read(LARGEST_SIGNATURE + 1), certificate.read()
    except InputError as problem:
        return Signature("invalid", problem=str(problem))
    if len(signature) > LARGEST_SIGNATURE:
        return Signature(
            "invalid", problem=f"{SIGNATURE}: is larger than {LARGEST_SIGNATURE:,} bytes; not a signature."
        )
    with TemporaryDirectory(prefix="setveil-") as place:  # ssh-keygen opens the file again: it gets what was read here
        copy = Path(place) / SIGNATURE
        copy.write_bytes(signature)
        return _checked(str(copy), message, signers)


def _checked(signature: str, message: bytes, signers: str | os.PathLike[str] | None) -> Signature:
    intact = _run(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", signature], message, QUICK)
    if intact is None:
        words = f"{NOT_AUTHENTICATED}: {SIGNATURE} cannot be verified: {NO_TOOL}"
        if signers is None:
            return Signature("cannot be verified", note=words)
        return Signature("cannot be verified", unchecked=words)
    if intact.returncode:
        return Signature("invalid", problem=f"{SIGNATURE}: not a signature of {CERTIFICATE} ({_reason(intact)}).")
    found = _KEY.search(intact.stdout.decode("utf-8", "replace"))
    key = found[1] if found else None
    if signers is None:
        words = f"{NOT_AUTHENTICATED}: signed with the key {key}; name the keys that you trust with --signers FILE."
        return Signature("valid", key=key, note=words)
    for name in _principals(signature, signers):
        done = _run(["-Y", "verify", "-n", NAMESPACE, "-f", str(signers), "-I", name, "-s", signature], message, QUICK)
        if done is not None and done.returncode == 0:
            shown = one_line(name, 120)
            return Signature("valid", shown, key, f"signed by {shown} with the key {key}. {MEANING}")
    words = f"{SIGNATURE}: signed with the key {key}, which belongs to none of the signers of {one_line(str(signers))}."
    return Signature("unknown signer", key=key, problem=words)


def _principals(signature: str, signers: str | os.PathLike[str]) -> list[str]:
    done = _run(["-Y", "find-principals", "-f", str(signers), "-s", signature], b"", QUICK)
    if done is None or done.returncode:
        return []
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [name for line in lines for name in line.split(",") if name]


def _run(words: list[str], message: bytes, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """What ``ssh-keygen`` answers; None if it is not installed."""
    tool = shutil.which(TOOL)
    if tool is None:
        return None
    try:
        return subprocess.run([tool, *words], input=message, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, b"", f"no answer within {seconds:g} seconds".encode())
    except OSError as problem:
        return subprocess.CompletedProcess(words, 1, b"", (problem.strerror or "it cannot be started").encode())


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr + b"\n" + done.stdout).decode("utf-8", "replace").split("\n")
    reason = next((line.strip().rstrip(".") for line in lines if line.strip()), "it gives no reason")
    return one_line(reason, 160)
