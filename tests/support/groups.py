"""With ``-n`` of xdist, tests of one group share a worker, so that their fixtures are made once.

Of other tests, a few neighbors make a group, but each slow one stands alone. What is slow comes first, so that the workers end
together.

A worker writes down the groups (the marker ``xdist_group``) of what it collected, and the scheduler reads that. xdist's own
``--dist loadgroup`` appends the group to the private name of a test, which pytest 9.2 has under another attribute.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

KEY = "file of groups"
NEIGHBORS = 8
"""So many tests of a file are given to a worker at once: they take less time than giving them one by one."""


class Groups(LoadScopeScheduling):
    """Gives a worker whole groups, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid, nodeid)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """As xdist does, but groups that are done are forgotten: it counts through all of them after each test."""
        group = self._split_scope(self.registered_collections[node][item_index])
        super().mark_test_complete(node, item_index, duration)
        groups = self.assigned_work.get(node, {})
        if all(groups.get(group, {}).values()):
            groups.pop(group, None)

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
    if config.option.dist not in ("load", "loadgroup"):
        return None
    config.option.loadscopereorder = False
    return Groups(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(tryfirst=True)  # before xdist says that this worker is ready
def pytest_collection_finish(session: pytest.Session) -> None:
    file = getattr(session.config, "workerinput", {}).get(KEY)
    if file is not None:
        Path(file).write_text(json.dumps(dict(groups_of(session.items))), encoding="utf-8")


def groups_of(items: list[pytest.Item]) -> Iterator[tuple[str, str]]:
    """The tests by name, with their groups. A slow one without the marker has none."""
    fast: dict[Path, int] = {}
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        if mark is not None:
            yield item.nodeid, mark.args[0]
        elif item.get_closest_marker("slow") is None:
            number = fast[item.path] = fast.get(item.path, -1) + 1
            yield item.nodeid, f"{item.path} {number // NEIGHBORS}"
