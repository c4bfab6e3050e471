"""The paper's study as data: specifications become rows, rows become tables and figures."""

from fewvars.study.experiments import EXPERIMENTS, FAMILIES
from fewvars.study.report import Report, write_report
from fewvars.study.row import Row
from fewvars.study.rows import Folder
from fewvars.study.specification import Drawing, Experiment, Method, Reported, Setting
from fewvars.study.study import run
from fewvars.study.tasks import Task, plan

__all__ = [
    "EXPERIMENTS",
    "FAMILIES",
    "Drawing",
    "Experiment",
    "Folder",
    "Method",
    "Report",
    "Reported",
    "Row",
    "Setting",
    "Task",
    "plan",
    "run",
    "write_report",
]
