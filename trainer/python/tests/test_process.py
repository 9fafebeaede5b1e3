"""The worker as a process: the ready line, a step, and every way of stopping."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from bodies import batch_body, session_body
from servers import PACKAGE_ROOT, client, process

from grpo_worker.__main__ import parse

Dir = Callable[[str], Path]


def test_it_says_when_it_is_ready_and_stops_when_stdin_ends(tiny_model_dir: Dir) -> None:
    with process(tiny_model_dir("llama"), "--watch-stdin", "--max-context", "256") as (child, ready):
        assert ready == {"ready": True, "port": ready["port"], "pid": child.pid}
        with client(ready["port"]) as http:
            info = http.get("/info").json()
            assert info["threads"] == 1
            assert info["maxContext"] == 256
            assert len(info["modelHash"]) == 64
            http.post("/session", json=session_body()).raise_for_status()
            assert http.post("/update", json=batch_body()).json()["version"] == 1
            child.send_signal(signal.SIGINT)
            assert http.get("/health").status_code == 200
        child.stdin.close()
        assert child.wait(30) == 0
        log = child.stderr.read().decode()
        assert child.stdout.read() == b""
    assert "OMP_NUM_THREADS=1, OMP_WAIT_POLICY=PASSIVE" in log
    assert "stdin ended" in log
    assert "the sampler has stopped" in log
    assert "Traceback" not in log


def test_it_ends_with_its_parent_while_it_still_loads(tiny_model_dir: Dir) -> None:
    command = [sys.executable, "-m", "grpo_worker", "--model", str(tiny_model_dir("llama")), "--watch-stdin"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT)}
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False)
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert b"Traceback" not in ended.stderr


def test_sigterm_stops_it_cleanly_even_in_an_update(tiny_model_dir: Dir) -> None:
    endless = batch_body()
    endless["groups"] = endless["groups"] * 1000
    with process(tiny_model_dir("llama")) as (child, ready), client(ready["port"]) as http:
        http.post("/session", json=session_body()).raise_for_status()

        def send() -> None:
            with pytest.raises(httpx.HTTPError):
                http.post("/update", json=endless)

        cut = threading.Thread(target=send)
        cut.start()
        assert any(b"step 0 from version 0" in line for line in child.stderr)
        child.send_signal(signal.SIGTERM)
        assert child.wait(30) == 0
        cut.join(30)
        assert b"Traceback" not in child.stderr.read()


def test_a_directory_without_a_model_ends_with_a_message_and_no_trace(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="cannot load a causal language model") as caught, process(tmp_path):
        pass
    assert "Traceback" not in str(caught.value)


def test_damaged_weights_end_with_a_message_and_no_trace(tiny_model_dir: Dir, tmp_path: Path) -> None:
    damaged = tmp_path / "m"
    shutil.copytree(tiny_model_dir("llama"), damaged)
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:4])
    with pytest.raises(AssertionError, match="cannot load a causal language model") as caught, process(damaged):
        pass
    assert "Traceback" not in str(caught.value)


def test_a_name_that_is_no_directory_and_not_on_the_hub_is_said_to_be_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(AssertionError) as caught, process(Path("nobody/no-such-model")):
        pass
    assert "there is no directory 'nobody/no-such-model', and the hub gave no model of that name" in str(caught.value)
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [["--threads", "0"], ["--memory-fraction", "1.5"], ["--max-context", "-1"], ["--dtype", "float16"], ["--odd"]],
)
def test_wrong_options_are_refused(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(["--model", "m", *options])
    assert caught.value.code == 2
    assert options[0] in capsys.readouterr().err
