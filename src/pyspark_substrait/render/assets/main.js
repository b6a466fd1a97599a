// The page: puts the parts together.

class Page {
  constructor() {
    const data = JSON.parse(byId("data").textContent);
    /** @type {Board[]} one for each plan */
    this.boards = data.graphs.map((/** @type {any} */ graph) => new Board(new PlanGraph(graph)));
    /** @type {any} what `viewing/comparison.py` says of two plans; null for one */
    this.comparison = data.comparison ?? null;
    this.panel = new Panel(this.boards, () => this.resized());
    this.search = new Search(this.boards);
    this.comparing = this.comparison && new Comparing(this.boards, this.panel, this.comparison);
    /** The board that was used last. */
    this.current = this.boards[0];
  }

  open() {
    // where the panel would take half of the screen, the drawing comes first; in a notebook, too
    if (window !== window.parent || matchMedia("(max-width: 48rem), (max-height: 30rem)").matches) this.panel.open(false);
    document.addEventListener("plan:shape", (event) => this.#tellShape(/** @type {CustomEvent} */ (event).detail.board));
    for (const board of this.boards) {
      this.#tools(board);
      board.open();
    }
    this.comparing?.open();
    document.addEventListener("keydown", (event) => {
      if (pressed(this, event)) event.preventDefault();
    });
    document.addEventListener("plan:trace", (event) => this.#tellTrace(/** @type {CustomEvent} */ (event).detail));
    document.addEventListener("plan:select", (event) => this.#keepPlace(/** @type {CustomEvent} */ (event).detail));
    document.addEventListener("plan:theme", () => this.boards.forEach((board) => board.minimap?.draw()));
    document.addEventListener("click", (event) => {
      const link = /** @type {Element} */ (event.target).closest("a[href^='#']");
      if (!link) return;
      event.preventDefault();
      this.#follow(link.getAttribute("href") ?? "");
    });
    addEventListener("hashchange", () => this.#follow(location.hash));
    addEventListener("resize", () => this.resized());
    byId("theme").addEventListener("click", switchTheme);
    byId("help-open").addEventListener("click", () => this.help());
    byId("save-svg").addEventListener("click", () => saveSvg(this.current));
    byId("save-png").addEventListener("click", () => savePng(this.current));
    if (location.hash.length > 1) this.#follow(location.hash);
    // what nobody needs for the first look
    setTimeout(() => {
      for (const board of this.boards) board.folding.addHandles();
      document.documentElement.dataset.ready = "";
    }, 0);
  }

  /** The board that an element belongs to, or else the one that was used last. @param {Element} element */
  boardOf(element) {
    const frame = element.closest(".board");
    this.current = this.boards.find((board) => board.frame === frame) ?? this.current;
    return this.current;
  }

  /** The room for drawings has another size: what nobody has moved is shown whole anew. A page in a notebook may start without any. */
  resized() {
    const untouched = this.boards.every((board) => board.viewport.untouched);
    if (!untouched) this.boards.forEach((board) => board.viewport.pan(0, 0));
    else if (this.comparing) this.comparing.fit();
    else this.boards.forEach((board) => board.fit());
  }

  /** Shows all of a plan; of two, both, so that they can be compared. @param {Board} board */
  fit(board) {
    if (this.comparing) this.comparing.fit();
    else board.fit(true);
  }

  help() {
    byId("help").showModal();
  }

  /** Escape: takes back what was done last. @param {Board} board */
  dismiss(board) {
    if (this.boards.some((each) => each.lights.port)) this.boards.forEach((each) => each.lights.clear());
    else board.select(null);
  }

  /** Goes to a node or a column: `#n4`, `#b-n4:0`. @param {string} address */
  #follow(address) {
    const found = /^#([a-z]+-)?n(\d+)(?::(\d+))?$/.exec(address);
    const board = found && this.boards.find((each) => each.graph.prefix === (found[1] ?? ""));
    if (!found || !board || !board.cards.has(Number(found[2]))) return;
    const node = Number(found[2]);
    this.current = board;
    board.select(node, { open: true });
    board.reveal(node, true);
    if (found[3] !== undefined && Number(found[3]) < board.graph.columns(node).length) board.lights.show([node, Number(found[3])]);
  }

  /** @param {{ board: Board, node: number | null }} detail */
  #keepPlace({ board, node }) {
    this.current = board;
    this.#address(node === null ? "" : `#${board.graph.prefix}n${node}`);
  }

  /** @param {string} hash */
  #address(hash) {
    try {
      history.replaceState(null, "", hash || location.pathname + location.search);
    } catch {
      // a page within another one may have no address of its own
    }
  }

  /** @param {{ board: Board, port: Port | null }} detail */
  #tellTrace({ board, port }) {
    const bar = /** @type {HTMLElement} */ (board.frame.querySelector(".trace"));
    bar.hidden = !port;
    if (!port) return;
    say(/** @type {Element} */ (bar.querySelector("output")), board.lights.text());
    this.#address(`#${board.graph.prefix}n${port.join(":")}`);
  }

  /** @param {Board} board */
  #tellShape(board) {
    const overview = board.shape !== board.shapes[0];
    board.frame.querySelector("[data-action=overview]")?.setAttribute("aria-pressed", String(overview));
    board.frame.querySelector("[data-action=details]")?.setAttribute("aria-pressed", String(!overview));
  }

  /** @param {Board} board */
  #tools(board) {
    const { frame, viewport, folding, lights } = board;
    frame.addEventListener("pointerdown", () => (this.current = board));
    /** @type {Record<string, () => unknown>} */
    const actions = {
      in: () => viewport.zoom(1.25),
      out: () => viewport.zoom(0.8),
      fit: () => this.fit(board),
      overview: () => board.shape === board.shapes[0] && board.toggleShape(),
      details: () => board.shape !== board.shapes[0] && board.toggleShape(),
      collapse: () => folding.collapseAll(),
      expand: () => folding.expandAll(),
      clear: () => lights.clear(),
    };
    for (const tool of /** @type {NodeListOf<HTMLElement>} */ (frame.querySelectorAll("[data-action]"))) {
      tool.addEventListener("click", () => actions[tool.dataset.action ?? ""]?.());
    }
    const conditions = /** @type {HTMLInputElement} */ (frame.querySelector(".trace input"));
    conditions.addEventListener("change", () => lights.withConditions(conditions.checked));
  }
}

rememberedTheme();
const page = new Page();
page.open();
