"""With ``-n`` of xdist, tests of one group share a worker, so that their fixtures are made once.

A worker writes down the groups (the marker ``xdist_group``) of what it collected, and the scheduler reads that. xdist's own
``--dist loadgroup`` appends the group to the private name of a test, which pytest 9.2 has under another attribute.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

KEY = "file of groups"


class Groups(LoadScopeScheduling):
    """Gives a worker whole groups; a test without one is a group by itself."""

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid, nodeid)

    @functools.cached_property
    def _groups(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(_file(self.config).read_text(encoding="utf-8"))
        return found


def _file(config: pytest.Config) -> Path:
    folder: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    return folder / "groups.json"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    if node.gateway.id == "gw0":
        node.workerinput[KEY] = str(_file(node.config))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups | None:
    return Groups(config, log) if config.option.dist in ("load", "loadgroup") else None


@pytest.hookimpl(tryfirst=True)  # before xdist says that this worker is ready
def pytest_collection_finish(session: pytest.Session) -> None:
    file = getattr(session.config, "workerinput", {}).get(KEY)
    if file is not None:
        marks = [(item.nodeid, item.get_closest_marker("xdist_group")) for item in session.items]
        groups = {name: mark.args[0] for name, mark in marks if mark is not None}
        Path(file).write_text(json.dumps(groups), encoding="utf-8")
