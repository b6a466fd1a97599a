"""Links that are right where the pages are files of a repository, and would not be on the site.

Those that leave ``docs/`` become text, and those that show the name of a page's file show its title. A picture leads to
itself, where it has its own size.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

from mkdocs.structure.files import Files

_NAMED = re.compile(r"\[([\w-]+\.md)\]\((\1)((?:#[\w-]+)?)\)")
_PICTURE = re.compile(r'<img [^>]*src="([^"#]*images/[^"#]+)[^>]*>')
_LINK = re.compile(r"\[([^\]\n]+)\]\((\.\./[^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, files: Files, **_: Any) -> str:
    """The page with links as the site has them."""
    folder = PurePosixPath(page.file.src_uri).parent

    def as_text(link: re.Match[str]) -> str:
        target = _joined(folder, link[2])
        if target is None:
            return link[0]
        name = link[1].strip("`")
        return f"`{target}`" if name in target else f"{link[1]} (`{target}`)"

    def titled(link: re.Match[str]) -> str:
        other = files.get_file_from_path((folder / link[2]).as_posix())
        title = other.page.title if other is not None and other.page is not None else None
        return f"[{title}]({link[2]}{link[3]})" if title else link[0]

    return _NAMED.sub(titled, _LINK.sub(as_text, markdown))


def on_page_content(html: str, **_: Any) -> str:
    """The page, where pictures are links."""
    return _PICTURE.sub(r'<a href="\1">\g<0></a>', html)


def _joined(folder: PurePosixPath, link: str) -> str | None:
    """The path in the repository that a link leads to; None if it stays inside ``docs/``."""
    parts: list[str] = ["docs", *folder.parts]
    for part in PurePosixPath(link.partition("#")[0]).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return None if parts[0] == "docs" else "/".join(parts)
