"""The progress bar of a fit."""

import logging

import pytest

from fewvars._common.progress import Progress


def stages(verbose):
    with Progress(verbose) as progress:
        progress.stage("searching", "step")
        progress.step()
        progress.stage("path", "input", total=4)
        progress.reach(3)
        progress.reach(2)
        logging.getLogger("fewvars").warning("a message")


def test_silent_unless_asked_for(capsys):
    stages(0)
    assert capsys.readouterr().err == ""


def test_one_bar_for_all_stages(capsys):
    stages(1)
    shown = capsys.readouterr().err
    assert "searching: 0step" in shown
    assert "3/4" in shown
    assert "a message\n" in shown  # on a line of its own, above the bar
    assert shown.count("\n") == 2
    assert shown.rstrip().split("\r")[-1].startswith("fitted in 00:00")


def interrupted():
    with Progress(1) as progress:
        progress.stage("searching", "step")
        raise KeyboardInterrupt


def test_what_is_interrupted_was_not_fitted(capsys):
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    shown = capsys.readouterr().err
    assert "fitted" not in shown
    assert shown.endswith("\n")
