"""Signatures: made before anything is published, checked offline, and never taken for more than they prove."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.workflows import signing
from setveil.workflows.handover import zip_public

pytestmark = [
    pytest.mark.filterwarnings("ignore::setveil.SetveilWarning"),
    pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed"),
]
ROWS = "id;item\n" + "".join(f"{number};{item}\n" for number in range(20) for item in ("milk", "bread", "beer"))
ASK = ["--model", "km", "-k", "5", "-m", "2", "--algorithm", "trim"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two keys, the signers, and a signed release of ``data.csv``."""
    folder = tmp_path_factory.mktemp("signing")
    for name in ("mine", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(command, check=True)
        key = (folder / f"{name}.pub").read_text()
        (folder / f"{name}.signers").write_text(f"{name}@example.org {key}")
    (folder / "data.csv").write_text(ROWS)
    words = ["anonymize", str(folder / "data.csv"), "-o", str(folder / "out"), *ASK, "--sign", str(folder / "mine")]
    assert _run([*words, "--format", "long", "--delimiter", ";"]) == 0
    return folder


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = _run(["verify", *map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_signer_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = answer(capsys, place / "out", "--signers", place / "mine.signers")
    signature = told["signature"]
    assert isinstance(signature, dict)
    assert (code, signature["signer"], signature["authenticated"]) == (0, "mine@example.org", True)
    assert any("not that it is true or the latest" in note for note in told["notes"])  # type: ignore[attr-defined]


def test_without_signers_the_issuer_is_not_authenticated(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = answer(capsys, place / "out")
    assert code == 0 and told["signature"]["authenticated"] is False  # type: ignore[index]
    assert any(note.startswith("issuer not authenticated") for note in told["notes"])  # type: ignore[attr-defined]


def test_signatures_of_others_and_of_other_certificates_are_refused(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = answer(capsys, place / "out", "--signers", place / "other.signers")
    assert code == 1 and told["signature"]["status"] == "unknown signer"  # type: ignore[index]
    copy = tmp_path / "copy"
    shutil.copytree(place / "out", copy)
    (copy / "certificate.sig").unlink()
    assert answer(capsys, copy)[0] == 0
    assert answer(capsys, copy, "--signers", place / "mine.signers")[0] == 1  # taken away by somebody
    for content in (b"", b"nonsense", b"x" * 100_000):
        (copy / "certificate.sig").write_bytes(content)
        assert answer(capsys, copy)[0] == 1
    # A valid signature for another purpose is none of the certificate.
    done = subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", str(place / "mine")],
        input=(copy / "certificate.json").read_bytes(),
        capture_output=True,
        check=True,
    )
    (copy / "certificate.sig").write_bytes(done.stdout)
    assert answer(capsys, copy, "--signers", place / "mine.signers")[0] == 1


def test_a_link_is_no_signature(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(place / "out", copy)
    (copy / "certificate.sig").unlink()
    (copy / "certificate.sig").symlink_to(place / "out" / "certificate.sig")
    assert answer(capsys, copy)[0] == 1


def test_without_the_tool_only_the_signature_cannot_be_verified(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "TOOL", "no-such-tool")
    found = sv.verify_folder(place / "out", signers=place / "mine.signers")
    assert found.holds is None and found.verdict is not None and found.verdict.holds
    assert any("not installed" in line for line in found.unchecked)
    assert sv.verify_folder(place / "out").holds  # nobody asked who signed


@pytest.mark.parametrize("key", ["nowhere", "data.csv", "mine.pub"])
def test_a_wrong_key_is_an_error_before_the_run(place: Path, tmp_path: Path, key: str) -> None:
    (tmp_path / "mine.pub").write_bytes((place / "mine.pub").read_bytes())
    (tmp_path / "data.csv").write_text("no key")
    read: list[str] = []
    policy = sv.Policy.from_dict({"schema": 1, "model": {"name": "km", "k": 2, "m": 1}})
    with pytest.raises(InputError, match=r"^(--)?sign "):
        sv.run(policy, [["a"], ["a"]], tmp_path / "out", sign=tmp_path / key, tell=read.append)
    assert read == [] and not (tmp_path / "out").exists()


# -- the archive, the internal folder, the reading options -------------------------------------------------------------


def test_the_archive_is_verified_like_the_folder(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = zip_public(place / "out", tmp_path / "release.zip")
    code, told = answer(capsys, archive, "--signers", place / "mine.signers")
    assert code == 0 and told["signature"]["authenticated"] is True  # type: ignore[index]
    import zipfile

    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("../escape.txt", "x")
    assert _run(["verify", str(archive)]) == 2
    assert not (tmp_path / "escape.txt").exists() and not (tmp_path.parent / "escape.txt").exists()


def test_the_internal_folder_names_the_release_that_is_meant(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["verify", str(place / "out.internal")]) == 2
    assert f"verify the release: {place / 'out'}" in capsys.readouterr().err.replace("\n", "")


def test_the_original_is_read_as_the_policy_says(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it, a file that needed options could not be read again without repeating them."""
    from setveil.workflows.folder import LARGEST_READING, owners_reading

    assert owners_reading(place / "out") == {"format": "long", "delimiter": ";"}
    assert answer(capsys, place / "out", "--original", place / "data.csv")[0] == 0
    policy = place / "out.internal" / "policy.toml"
    content = policy.read_text()
    try:
        policy.write_text(content + "#" * LARGEST_READING)
        assert owners_reading(place / "out") == {}
    finally:
        policy.write_text(content)
