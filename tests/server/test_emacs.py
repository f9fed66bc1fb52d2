"""The server under a real editor: Emacs in a terminal that nobody sees, set up as the page on Emacs says, with Eglot.

Emacs is not run in batch mode: there it has no idle time, and Eglot sends changes and asks for what is shown in idle time. What
a user would type is typed. Eglot 1.9, as Debian 12 has it, counts in UTF-16, takes the diagnostics that are sent, and wants
actions whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from e2e.projects import write_project
from support.editors import blocks, environment

FILES = {
    "a.py": "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n@jax.jit\ndef f(x):\n"
    "    return '🙂', np.sin(x) + jnp.cos(x)\n\n\n@jax.jit\ndef g(x):\n    return np.tan(x)\n",
}
SCRIPT = r"""
(require 'json)
(defvar told nil "What the test wants to know.")
(defvar patience 90)
(defvar pause 1 "How long the hover is waited for before a key is pressed again, in seconds.")
(defvar deadline nil)
(defvar server nil)

(defun tell (key value) (push (cons key value) told))
(defun typed (keys) "Have KEYS read as if they were typed."
  (setq unread-command-events (append unread-command-events (listify-key-sequence (kbd keys)))))
(defun text () (buffer-substring-no-properties (point-min) (point-max)))
;; A fix may shorten the text before Flymake hears of it.
(defun line-of (position) (line-number-at-pos (min position (point-max))))
(defun column-of (position) (save-excursion (goto-char position) (- position (line-beginning-position))))
(defun findings ()
  (mapcar (lambda (it)
            (vector (flymake-diagnostic-text it) (line-of (flymake-diagnostic-beg it))
                    (column-of (flymake-diagnostic-beg it)) (column-of (flymake-diagnostic-end it))))
          (sort (flymake-diagnostics)
                (lambda (a b) (< (flymake-diagnostic-beg a) (flymake-diagnostic-beg b))))))
(defun places () (mapcar (lambda (it) (list (aref it 1) (aref it 2))) (findings)))
(defun go-to (pattern) (goto-char (point-min)) (re-search-forward pattern) (goto-char (match-beginning 0)))
(defun shown (name) (if (get-buffer name) (with-current-buffer name (text)) ""))
(defun hovered () (if (buffer-live-p eldoc--doc-buffer) (with-current-buffer eldoc--doc-buffer (text)) ""))

(defvar steps
  (list
   ;; What is waited for, whether it is there, and what is done then.
   (list "the two findings" (lambda () (equal (places) '((8 16) (13 11))))
         (lambda ()
           (setq server (eglot-current-server))
           (tell 'first (findings))
           (go-to "^@jax")
           (typed "# SPC typed RET")))
   ;; Flymake does not move what it knows: only a new answer of the server has these columns.
   (list "the findings to move" (lambda () (equal (places) '((9 16) (14 11))))
         (lambda ()
           (tell 'moved (findings))
           (go-to "f(x)")
           (typed "C-f C-b")))
   (list "the hover"
         (lambda ()
           ;; What is known of functions comes a moment after the findings, and Eglot asks again when a key was pressed. A
           ;; key throws an answer away that is under way, so a slow machine gets more time with each key.
           (or (string-match-p "a.py:7" (hovered))
               (ignore (when (time-less-p pause (or (current-idle-time) 0))
                         (setq pause (* 2 pause))
                         (typed "C-f C-b")))))
         (lambda ()
           (tell 'hover (hovered))
           (go-to "np.sin")
           (typed "M-x eglot-code-actions RET JAX203: SPC explain RET")))
   (list "the explanation" (lambda () (string-match-p "JAX203 numpy-on-tracer" (shown "*Messages*")))
         (lambda ()
           (go-to "np.sin")
           (typed "M-x eglot-code-actions RET RET")))
   (list "the quick fix, and one finding to go" (lambda () (equal (places) '((14 11))))
         (lambda ()
           (tell 'fixed (text))
           (typed "M-x jaxlint-fix-all RET")))
   (list "no finding after the fix of all" (lambda () (null (findings)))
         (lambda ()
           (tell 'all-fixed (text))
           (tell 'debug (eglot-execute-command server 'jaxlint.printDebugInformation []))
           (tell 'events (with-current-buffer (jsonrpc-events-buffer server) (text)))
           (typed "C-x C-s M-x eglot-shutdown RET")))
   (list "the server to end" (lambda () (not (jsonrpc-running-p server))) #'ignore)))

(defun finish (problem)
  (when problem
    (tell 'failed problem)
    (tell 'messages (shown "*Messages*"))
    (dolist (it (buffer-list))
      (when (string-match-p "EGLOT" (buffer-name it)) (tell (buffer-name it) (shown it)))))
  (with-temp-file (getenv "RESULT") (insert (json-encode told)))
  (set-buffer-modified-p nil)
  (kill-emacs))

(defun advance ()
  (condition-case problem
      (with-current-buffer "a.py"
        (pcase-let ((`(,what ,there ,act) (car steps)))
          (cond ((null steps) (finish nil))
                ((funcall there)
                 (pop steps)
                 (setq deadline (+ (float-time) patience))
                 (funcall act))
                ((> (float-time) deadline) (finish (concat "waited in vain for " what))))))
    (error (finish (format "%S at: %s" problem (caar steps)))))
  (run-with-timer 0.05 nil #'advance))

(setq deadline (+ (float-time) patience))
(run-with-timer 0.05 nil #'advance)
"""
HAS_EGLOT = ["emacs", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
PAGE = blocks("emacs", "elisp")


@pytest.fixture
def emacs(tmp_path: Path) -> dict[str, str]:
    """The variables for an Emacs that has only the page's set-up."""
    pytest.importorskip("pygls", reason="the extra `server` is not installed")
    debian = "(Debian: apt-get install --no-install-recommends emacs-nox elpa-eglot)"
    if shutil.which("emacs") is None:
        pytest.skip(f"Emacs is not installed {debian}")
    variables = {**environment(tmp_path), "TERM": "xterm"}
    if subprocess.run(HAS_EGLOT, env=variables, capture_output=True, check=False).returncode:
        pytest.skip(f"Emacs has no Eglot {debian}")
    setup = Path(variables["HOME"], ".emacs.d", "init.el")
    setup.parent.mkdir(parents=True)
    setup.write_text(PAGE["Set-up"], encoding="utf-8")
    return variables


def _run(emacs: dict[str, str], root: Path, script: Path) -> str:
    """Run Emacs in a terminal of its own until it ends; returns what it drew."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    drawn: list[bytes] = []

    def watch() -> None:
        with contextlib.suppress(OSError):  # the other end was closed
            while part := os.read(ours, 65536):
                drawn.append(part)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    command = ["emacs", "-nw", "--terminal", os.ttyname(theirs), "a.py", "--load", str(script)]
    try:
        subprocess.run(
            command, env=emacs, cwd=root, start_new_session=True, capture_output=True, timeout=700, check=False
        )
    except subprocess.TimeoutExpired:
        pass  # what is missing then is reported by the caller
    finally:
        os.close(theirs)
        watching.join(10)
        os.close(ours)
    return b"".join(drawn).decode(errors="replace")


@pytest.mark.slow
def test_emacs_shows_findings_moves_them_and_fixes_them(emacs: dict[str, str], tmp_path: Path) -> None:
    root = write_project(tmp_path / "project", {**FILES, ".dir-locals.el": PAGE["Settings"]})
    (root / ".git").rmdir()
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    script, result = tmp_path / "script.el", tmp_path / "result.json"
    script.write_text(SCRIPT, encoding="utf-8")
    drawn = _run({**emacs, "RESULT": str(result)}, root, script)
    assert result.is_file(), drawn[-3000:]
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    assert "failed" not in found, (found["failed"], found)
    # Columns of Emacs are characters.
    said = "np.{} converts `x` to a NumPy array, but `x` is traced; use jnp.{}"
    sin = f"jaxlint [JAX203]: {said.format('sin()', 'sin')}"
    tan = f"jaxlint [JAX203]: {said.format('tan()', 'tan')}"
    assert found["first"] == [[sin, 8, 16, 25], [tan, 13, 11, 20]]
    assert found["moved"] == [[sin, 9, 16, 25], [tan, 14, 11, 20]]
    assert found["hover"].startswith("f (traced)")
    before = FILES["a.py"].replace("@jax.jit", "# typed\n@jax.jit", 1)
    assert found["fixed"] == before.replace("np.sin", "jnp.sin")
    assert found["all-fixed"] == (root / "a.py").read_text(encoding="utf-8")
    without_numpy = before.replace("import numpy as np\n", "")
    assert found["all-fixed"] == without_numpy.replace("np.sin", "jnp.sin").replace("np.tan", "jnp.tan")
    assert '"ignore":["JAX9"]' in found["debug"]
    assert f"root {root}," in found["debug"]
    assert "client/registerCapability" in found["events"]
    assert "does not watch" not in found["events"] and "jaxlint failed" not in found["events"]
