"""Compile stand-ins for the CUDA libraries that a torch built for CUDA links to. Usage: stand_ins.py SITE_PACKAGES

Where an index has no torch for CPUs, its torch for Linux wants 2.7 GB of CUDA libraries merely to be imported. On a
machine without a GPU nothing ever calls them, so each is replaced by a small library with the same symbols, all of
which return 999, an error in every CUDA API; torch then finds no GPU and computes on the CPU as ever. A test rig's
trick: it has no place in the environment that trains. Needs cc and readelf.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# What the system and torch bring themselves. The real libcuda belongs to the driver, and torch does not link to it.
OWN = re.compile(
    r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp|shm|c10.*|torch.*|caffe2.*|cuda)\.so|ld-linux"
)
CUDA_NAME = re.compile(r"(cu|nv|nccl)")


def run(*command: str) -> str:
    """Output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed_by(library: Path) -> list[str]:
    """Names of the libraries that a library is linked to."""
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", run("readelf", "-d", str(library)))


def symbols_of(library: Path) -> tuple[set[str], dict[str, set[str]]]:
    """What a library defines, and what it wants from others by the version of the symbol ("" for none)."""
    defined: set[str] = set()
    wanted: dict[str, set[str]] = defaultdict(set)
    for line in run("readelf", "--dyn-syms", "-W", str(library)).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].endswith(":"):
            continue
        bind, section, name = fields[4], fields[6], fields[7]
        symbol, _, version = name.partition("@")
        if section != "UND":
            defined.add(symbol)
        elif bind != "WEAK":
            wanted[version.lstrip("@")].add(symbol)
    return defined, wanted


def compile_stand_in(
    out: Path, version: str, versioned: set[str], plain: set[str]
) -> None:
    """One shared library named like the real one, with these symbols."""
    source, script = out.with_suffix(".c"), out.with_suffix(".map")
    body = "".join(
        f"int {name}(void) {{ return 999; }}\n" for name in sorted(versioned | plain)
    )
    source.write_text(body or "static int empty;\n")
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-w",
        "-fno-builtin",
        f"-Wl,-soname,{out.name}",
        "-o",
        str(out),
        str(source),
    ]
    if versioned:
        script.write_text(
            f"{version} {{ global: {' '.join(f'{name};' for name in sorted(versioned))} }};\n"
        )
        command.append(f"-Wl,--version-script={script}")
    run(*command)
    source.unlink()
    script.unlink(missing_ok=True)


def main() -> None:
    """Make whatever torch's libraries need and the system does not have."""
    site = Path(sys.argv[1])
    out = site / "nvidia" / "cu13" / "lib"  # torch looks here already
    out.mkdir(parents=True, exist_ok=True)
    # The linear algebra of CUDA is loaded only where there is a GPU.
    libraries = [
        path
        for path in sorted((site / "torch" / "lib").glob("*.so*"))
        if "linalg" not in path.name
    ]
    missing = sorted(
        {name for path in libraries for name in needed_by(path) if not OWN.match(name)}
    )
    missing = [name for name in missing if not (out / name).exists()]
    defined: set[str] = set()
    wanted: dict[str, set[str]] = defaultdict(set)
    for path in libraries:
        own, others = symbols_of(path)
        defined |= own
        for version, names in others.items():
            wanted[version] |= names
    # Symbols without a version may be in any of the libraries: the first one gets them all.
    plain = {name for name in wanted[""] - defined if CUDA_NAME.match(name)}
    for name in missing:
        version = "NVSHMEM" if name.startswith("libnvshmem") else name
        compile_stand_in(
            out / name,
            version,
            wanted.get(version, set()),
            plain if name == missing[0] else set(),
        )


if __name__ == "__main__":
    main()
