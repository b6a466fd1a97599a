"""Pictures of the command line: what a terminal shows, as SVG."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from functools import partial
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from docs.pictures.picture import SCHEMES, Picture, Scheme

COLUMNS = 108
TABLES = "--table orders=orders.parquet --table products=products.parquet"
COMMANDS = {
    "explain": "explain best.json --width 108",
    "validate": "validate broken.json",
    "run": f"run best.json {TABLES} --types",
    "diff": "diff sales.json best.json",
}


def _theme(background: str, foreground: str, normal: str, bright: str) -> TerminalTheme:
    """Colors in hexadecimal digits: what is behind the text, the text, and the eight colors of a terminal, twice."""

    def color(digits: str) -> tuple[int, int, int]:
        red, green, blue = bytes.fromhex(digits)
        return red, green, blue

    eight, eight_bright = ([*map(color, digits.split())] for digits in (normal, bright))
    return TerminalTheme(color(background), color(foreground), eight, eight_bright)


_THEMES: dict[Scheme, TerminalTheme] = {
    "light": _theme(
        "fafafa",
        "24292f",
        "24292f b42318 116329 7d4e00 0950ae 8250df 1b7c83 57606a",
        "57606a a40e26 1a7f37 633c01 218bff a475f9 3192aa 24292f",
    ),
    "dark": _theme(
        "1e2129",
        "dce0e8",
        "484f58 ff7b72 56d364 e3b341 79c0ff d2a8ff 56d4dd b1bac4",
        "6e7681 ffa198 7ee787 f2cc60 a5d6ff e2c5ff b3f0ff f0f6fc",
    ),
}
# of rich's own, without its fonts from the network
_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
  <style>
    .{unique_id}-matrix {{
      font: {char_height}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; line-height: {line_height}px;
    }}
    .{unique_id}-title {{ font: bold 18px system-ui, sans-serif; }}
    {styles}
  </style>
  <defs>
    <clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
    {lines}
  </defs>
  {chrome}
  <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">{matrix}</g>
  </g>
</svg>
"""


def _make(command: str, scheme: Scheme, folder: Path, target: Path) -> None:
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "bold green"), (f"pyspark-substrait {command}", "bold")))
    console.print(Text.from_ansi(_output(command, folder).rstrip()))
    name = target.stem
    svg = console.export_svg(title="", theme=_THEMES[scheme], code_format=_FORMAT, unique_id=name)
    target.write_text(svg.replace("\u00a0", "&#160;"), encoding="utf-8")


def _output(command: str, folder: Path) -> str:
    """What a command prints on a terminal; of what it says beside, what isn't there for a while only."""
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    program = [sys.executable, "-m", "pyspark_substrait", *shlex.split(command)]
    variables = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    with subprocess.Popen(program, cwd=folder, env=variables, stdout=secondary, stderr=subprocess.PIPE) as running:
        os.close(secondary)
        printed = b""
        try:
            while part := os.read(primary, 65536):
                printed += part
        except OSError:  # the other side is closed: that is all
            pass
        assert running.stderr is not None
        beside = running.stderr.read().decode()
    os.close(primary)
    lasting = [line for line in beside.splitlines(keepends=True) if not line.rstrip().endswith("…")]
    return printed.decode().replace("\r\n", "\n") + "".join(lasting)


PICTURES = tuple(
    Picture(f"terminal-{name}-{scheme}.svg", partial(_make, command, scheme))
    for name, command in COMMANDS.items()
    for scheme in SCHEMES
)
