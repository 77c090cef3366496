"""Generate horde_pb/ from proto/, or prove that what is committed is fresh, well-formed and compatible.

`python -m tools.protos` writes horde_pb/. `python -m tools.protos --check` changes nothing: it regenerates
into a temporary folder and compares, runs `buf lint`, and runs `buf breaking` against the protos of the
branch `main` when that branch already has some.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "proto"
GENERATED = ROOT / "horde_pb"
PACKAGE_DOCSTRING = '"""Generated from proto/ by `./run proto`; never edited."""\n'


def generate(target: Path, sources: Path = SOURCES) -> None:
    """Write the Python modules and stubs of every proto below `sources` into `target` (made anew).

    Raises SystemExit with protoc's own message when a proto does not compile.
    """
    protos = sorted(str(path.relative_to(sources)) for path in sources.rglob("*.proto"))
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    if protos:
        outputs = [f"--{kind}_out={target.parent}" for kind in ("python", "grpc_python", "mypy")]
        outputs.append(f"--mypy_grpc_out=only_async:{target.parent}")
        _run([sys.executable, "-m", "grpc_tools.protoc", "-I.", *outputs, *protos], cwd=sources)
    for folder in [target, *(path for path in target.rglob("*") if path.is_dir())]:
        (folder / "__init__.py").write_text(PACKAGE_DOCSTRING)


def stale(committed: Path, fresh: Path) -> list[str]:
    """Names, relative to the package folder, of generated files that differ, are missing or are left over."""
    old, new = _contents(committed), _contents(fresh)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def refresh(package: Path) -> None:
    """Regenerate, then touch only the files that changed, so that importing processes never see it gone."""
    with tempfile.TemporaryDirectory(prefix="protos") as folder:
        fresh = Path(folder) / package.name
        generate(fresh)
        for name in stale(package, fresh):
            old, new = package / name, fresh / name
            if not new.exists():
                old.unlink()
                continue
            old.parent.mkdir(parents=True, exist_ok=True)
            old.write_bytes(new.read_bytes())


def check() -> list[str]:
    """Everything that is wrong with proto/ and horde_pb/, as printable lines; empty when all is well."""
    with tempfile.TemporaryDirectory(prefix="protos") as folder:
        fresh = Path(folder) / "horde_pb"
        generate(fresh)
        problems = [f"horde_pb/{name} is stale: run `./run proto`" for name in stale(GENERATED, fresh)]
    if not any(SOURCES.rglob("*.proto")):
        return problems
    problems += _buf("lint", str(SOURCES))
    with tempfile.TemporaryDirectory(prefix="protos") as folder:
        base = Path(folder) / "base"
        if _export_base(base):
            problems += _buf("breaking", str(SOURCES), "--against", str(base / "proto"))
    return problems


def _contents(package: Path) -> dict[str, bytes]:
    files: Iterable[Path] = package.rglob("*.py*") if package.exists() else ()
    return {
        str(path.relative_to(package)): path.read_bytes()
        for path in files
        if path.suffix in {".py", ".pyi"} and "__pycache__" not in path.parts
    }


def _export_base(folder: Path) -> bool:
    """Copy the protos of branch main into `folder`; False when there is no repository or no proto there."""
    git = shutil.which("git")
    if git is None:
        return False
    tree = subprocess.run([git, "archive", "main", "proto"], cwd=ROOT, capture_output=True, check=False)
    if tree.returncode != 0:
        return False
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=tree.stdout, check=True)  # noqa: S607 - tar is POSIX
    return any(folder.rglob("*.proto"))


def _buf(*arguments: str) -> list[str]:
    buf = Path(sys.executable).with_name("buf")
    done = subprocess.run([str(buf), *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return lines or ["buf failed without a message"] if done.returncode else []


def _run(arguments: list[str], cwd: Path) -> None:
    binaries = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"protoc failed:\n{done.stderr.strip()}")


def main() -> int:
    """Entry point; the exit code is 1 when --check finds anything."""
    parser = argparse.ArgumentParser(prog="python -m tools.protos", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when anything is not right")
    if not parser.parse_args().check:
        refresh(GENERATED)
        return 0
    problems = check()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
