"""Every package that the worker and its tests need is pinned, and the pins are what is installed."""

import re
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def pins(name: str) -> dict[str, str]:
    lines = [line.strip() for line in (ROOT / name).read_text().splitlines()]
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonical(package): number for package, number in pairs}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed_by(name: str) -> set[str]:
    wanted = [Requirement(text) for text in requires(name) or []]
    return {canonical(r.name) for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})}


def installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def test_the_pins_are_closed_under_dependencies() -> None:
    runtime = pins("requirements.txt")
    every = {**runtime, **pins("requirements-dev.txt")}
    assert {need for name in runtime for need in needed_by(name) if installed(need)} <= runtime.keys()
    assert {need for name in every for need in needed_by(name) if installed(need)} <= every.keys()


def test_the_pins_are_what_is_installed() -> None:
    every = {**pins("requirements.txt"), **pins("requirements-dev.txt")}
    assert {name: version(name).split("+")[0] for name in every} == every
