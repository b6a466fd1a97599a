// The drawing as a file: as it is now, by itself.

/** No browser makes larger images. */
const MOST_PIXELS = 16000;

/**
 * The drawing as it is now, as a document by itself.
 * @param {Board} board
 * @returns {string}
 */
function asSvg(board) {
  const copy = /** @type {SVGSVGElement} */ (board.svg.cloneNode(true));
  for (const away of copy.querySelectorAll(".away, .handle, path.hit")) away.remove();
  const unseen = board.shape === board.shapes[0] ? "g.brief" : "g.node > :not(g.brief, g.told, g.sign-of-mark, title), g.edge > text:not(.rows)";
  for (const hidden of copy.querySelectorAll(unseen)) hidden.remove();
  for (const element of copy.querySelectorAll("[tabindex]")) element.removeAttribute("tabindex");
  for (const element of copy.querySelectorAll(".selected")) element.classList.remove("selected");
  copy.setAttribute("data-theme", shownTheme());
  const style = draw("style");
  style.textContent = byId("state-style").textContent;
  copy.querySelector("style")?.after(style);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

/** @param {Board} board */
function saveSvg(board) {
  save(new Blob([asSvg(board)], { type: "image/svg+xml" }), `${fileName(board)}.svg`);
}

/** As an image of twice the size, or as large as there can be. @param {Board} board */
function savePng(board) {
  const { width, height } = board.viewport.size;
  const scale = Math.min(2, MOST_PIXELS / width, MOST_PIXELS / height, Math.sqrt((MOST_PIXELS * MOST_PIXELS) / 2 / (width * height)));
  const address = URL.createObjectURL(new Blob([asSvg(board)], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = Math.floor(width * scale);
    canvas.height = Math.floor(height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => blob && save(blob, `${fileName(board)}.png`), "image/png");
  };
  image.src = address;
}

/** @param {Blob} content @param {string} name */
function save(content, name) {
  const link = document.createElement("a"), address = URL.createObjectURL(content);
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** What a file is called: nothing of a plan's name that means something to a file system. @param {Board} board */
function fileName(board) {
  const last = board.graph.name.split(/[\\/]/).pop() ?? "";
  return last.replace(/\.(json|pb|bin|txt|substrait)$/i, "").replace(/[^\w.-]+/g, "-").slice(0, 80).replace(/^[.-]+|[.-]+$/g, "") || "plan";
}
