"""Pictures of pages: what Chromium shows."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docs.pictures.picture import Scheme


@contextmanager
def opened(
    page: Path | str, scheme: Scheme, *, width: int = 1200, height: int = 800, scale: float = 1
) -> Iterator[Any]:
    """A browser (of selenium) that shows a page.

    Args:
        page: the file, or an address.
        scheme: light or dark, as the system would say.
        width, height: of the window, in CSS pixels.
        scale: pixels of the picture for each of them.
    """
    from selenium import webdriver

    browser, control = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
    if browser is None or control is None:
        sys.exit("there is no chromium with chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    with tempfile.TemporaryDirectory() as profile:
        for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
            options.add_argument(f"--{argument}")
        options.add_argument(f"--user-data-dir={profile}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(control))
        try:
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get(page if isinstance(page, str) else page.as_uri())
            yield driver
        finally:
            driver.quit()


def take(driver: Any, target: Path) -> None:
    """Save what the browser shows as PNG."""
    driver.save_screenshot(str(target))
