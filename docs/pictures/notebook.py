"""Pictures of the notebook in ``examples/notebook``, in JupyterLab.

JupyterLab is no dependency: its program ``jupyter-lab`` is looked for in the PATH, or where ``JUPYTER_LAB`` says.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from docs.pictures.browser import opened
from docs.pictures.picture import SCHEMES, Picture, Scheme
from docs.pictures.plans import ROOT

_NOTEBOOK = ROOT / "examples" / "notebook" / "tour.ipynb"
#: Which cells are in the picture: how each begins.
_SHOWN = ("%load_ext", "%%substrait --tables orders products --name sales", "substrait.profile")
_SIZE = {"width": 1460, "height": 1900}
_PATIENCE = 60


def executed(folder: Path) -> Path:
    """The notebook with the outputs of its cells, in a folder; made once."""
    target = folder / "plans.ipynb"
    if not target.exists():
        import nbclient
        import nbformat

        notebook = nbformat.read(_NOTEBOOK, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if cell.source.startswith(_SHOWN)]
        resources = {"metadata": {"path": str(_NOTEBOOK.parent)}}
        nbclient.NotebookClient(notebook, kernel_name="python3", resources=resources).execute()
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
        nbformat.write(notebook, target)
    return target


def _make(scheme: Scheme, folder: Path, target: Path) -> None:
    from selenium.webdriver.common.by import By

    notebook = executed(folder)
    with _server(notebook, scheme) as address, opened(address, scheme, **_SIZE) as browser:
        _until(lambda: browser.find_elements(By.CSS_SELECTOR, ".jp-OutputArea-output table"))
        _until(lambda: browser.execute_script("return [...document.images].every(image => image.complete)"))
        browser.execute_script(_TIDY)
        time.sleep(1)
        _take_cells(browser, target)


def _take_cells(browser: Any, target: Path) -> None:
    """Save the cells, without what stands around them."""
    left, top, right, bottom = browser.execute_script(_EDGES)
    clip = {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    target.write_bytes(base64.b64decode(shot["data"]))


#: Leaves out what is there for who works with the cells.
_TIDY = """
document.activeElement?.blur();
const style = document.createElement('style');
style.textContent = '.jp-Collapser, .jp-cell-toolbar, .cm-cursorLayer { visibility: hidden; }';
document.head.append(style);
"""

_EDGES = """
const panel = document.querySelector('.jp-NotebookPanel').getBoundingClientRect();
const cells = [...document.querySelectorAll('.jp-NotebookPanel .jp-Cell')].map(cell => cell.getBoundingClientRect());
const [top, bottom] = [cells[0].top - 6, cells.at(-1).bottom + 6];
return [panel.left, Math.max(top, panel.top), panel.right, Math.min(bottom, panel.bottom)];
"""


@contextmanager
def _server(notebook: Path, scheme: Scheme) -> Iterator[str]:
    """The address of a notebook in JupyterLab, which runs as long as the body."""
    program = os.environ.get("JUPYTER_LAB") or shutil.which("jupyter-lab")
    if program is None:
        sys.exit("there is no jupyter-lab")
    settings = notebook.parent / f"settings-{scheme}"
    themes = settings / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
    themes.parent.mkdir(parents=True, exist_ok=True)
    themes.write_text(json.dumps({"theme": f"JupyterLab {scheme.capitalize()}"}))
    subprocess.run([str(Path(program).with_name("jupyter-trust")), notebook], check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    arguments = [
        "--no-browser",
        "--allow-root",
        f"--ServerApp.port={port}",
        f"--ServerApp.root_dir={notebook.parent}",
        f"--IdentityProvider.token={token}",
    ]
    with (notebook.parent / "jupyter.log").open("wb") as log:
        server = subprocess.Popen(
            [program, *arguments],
            stdout=log,
            stderr=log,
            env={**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(settings)},
        )
        try:
            base = f"http://127.0.0.1:{port}"
            _until(lambda: _answers(f"{base}/api?token={token}"))
            yield f"{base}/doc/tree/{notebook.name}?reset&token={token}"
        finally:
            server.terminate()
            server.wait(timeout=_PATIENCE)


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _until(found: Any) -> None:
    """Wait for something."""
    end = time.monotonic() + _PATIENCE
    while not found():
        if time.monotonic() > end:
            sys.exit("JupyterLab doesn't show the notebook")
        time.sleep(0.3)


PICTURES = tuple(Picture(f"notebook-{scheme}.png", partial(_make, scheme)) for scheme in SCHEMES)
