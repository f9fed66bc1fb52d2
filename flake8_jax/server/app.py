"""The server as a whole: its state, and the handlers of all messages."""

from __future__ import annotations

from lsprotocol import types

from flake8_jax.server import lifecycle, requests
from flake8_jax.server.background import Background
from flake8_jax.server.state import Server

_OWN = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
)
"""Features of pygls that keep texts and folders. They fail on some invalid messages, and then our handlers do not run."""


def make_server(background: Background) -> Server:
    """The server with all that it can do. ``background`` may have been started before."""
    server = Server(background)
    for method in _OWN:
        server.protocol.fm.builtin_features.pop(method)
    lifecycle.register(server)
    requests.register(server)
    return server
