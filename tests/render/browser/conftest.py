"""A browser that opens pages, and what every page has to keep: no error in the console, nothing from the network."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pyspark_substrait.render.view import View

#: Errors that a page doesn't catch, also those in a promise.
_ERRORS = """
window.faults = [];
addEventListener("error", (event) => window.faults.push(String(event.message)));
addEventListener("unhandledrejection", (event) => window.faults.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => window.faults.push(`policy: ${event.violatedDirective}`));
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window; tests skip where there is none. What a page saves goes to the folder ``downloads``."""
    webdriver = pytest.importorskip("selenium.webdriver")
    browser, control = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
    if browser is None or control is None:
        pytest.skip("there is no chromium with chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    profile = tmp_path_factory.mktemp("profile")
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(control))
    started.downloads = tmp_path_factory.mktemp("downloads")
    behaviour = {"behavior": "allow", "downloadPath": str(started.downloads)}
    started.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    started.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _ERRORS})
    yield started
    started.quit()


@pytest.fixture
def opened(driver: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the page of a view. After the test, nothing has gone wrong in it and nothing was asked of a network."""
    file = tmp_path / "page.html"

    def show(view: View, *, hash: str = "", scheme: str = "light", width: int = 1440, height: int = 900) -> Any:
        file.write_text(view.to_html(), encoding="utf-8")
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen", "features": features})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get_log("performance")
        driver.get(file.as_uri() + hash)
        _until(driver, "return 'ready' in document.documentElement.dataset")
        return driver

    yield show
    assert driver.execute_script("return window.faults ?? []") == []
    assert driver.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = {item["params"]["request"]["url"] for item in messages if item["method"] == "Network.requestWillBeSent"}
    assert {address for address in asked if not address.startswith(("data:", "blob:", "about:"))} <= {
        file.as_uri(),
        *(address for address in asked if address.startswith(f"{file.as_uri()}#")),
    }


def _until(driver: Any, condition: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 30, poll_frequency=0.02).until(lambda seen: seen.execute_script(condition))
