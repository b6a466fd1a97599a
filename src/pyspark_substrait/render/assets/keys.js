// The keyboard: what each key does. The help of the page lists them.

/**
 * @param {Page} page
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key was for us
 */
function pressed(page, event) {
  const target = /** @type {Element} */ (event.target);
  if (event.altKey || event.metaKey || event.ctrlKey) return false;
  if (target.matches("input, textarea, select")) return false;
  if (byId("help").open) return false;
  const card = /** @type {SVGGElement | null} */ (target.closest("g.node"));
  const board = page.boardOf(target), { viewport } = board;
  switch (event.key) {
    case "+": case "=": viewport.zoom(1.25); return true;
    case "-": viewport.zoom(0.8); return true;
    case "0": page.fit(board); return true;
    case "o": board.toggleShape(); return true;
    case "/": page.search.open(); return true;
    case "?": page.help(); return true;
    case "t": switchTheme(); return true;
    case "c": board.folding.collapseAll(); return true;
    case "e": board.folding.expandAll(); return true;
    case "p": page.panel.open(!page.panel.isOpen); return true;
    case "Escape": page.dismiss(board); return true;
  }
  if (target.closest("#panel, .top, .tools")) return false;
  const node = card ? Number(card.dataset.node) : null;
  if (node === null) {
    if (!event.key.startsWith("Arrow")) return false;
    board.focus(board.selected ?? 0);
    return true;
  }
  const along = ["ArrowLeft", "ArrowRight"], beside = ["ArrowUp", "ArrowDown"];
  const [back, on, before, after] = board.shape.down ? [...beside, ...along] : [...along, ...beside];
  switch (event.key) {
    case back: board.step(node, board.inputsOf(node)); return true;
    case on: board.step(node, board.usersOf(node)); return true;
    case before: board.sibling(node, -1); return true;
    case after: board.sibling(node, 1); return true;
    case "Enter": board.select(node, { open: true }); return true;
    case " ": board.folding.toggle(node); return true;
    case "l": board.lights.next(node, 1); return true;
    case "L": board.lights.next(node, -1); return true;
  }
  return false;
}
