// The drawing of a plan on the page: its elements by the numbers of the nodes, and what is done to it.

/**
 * A rectangle, in the units of the drawing.
 * @typedef {{ x: number, y: number, width: number, height: number }} Box
 */

class Board {
  /** @param {PlanGraph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {HTMLElement} what the drawing is seen through */
    this.frame = byId(`${graph.prefix}board`);
    /** @type {SVGSVGElement} */
    this.svg = /** @type {any} */ (this.frame.querySelector("svg.plan-graph"));
    const { width, height } = this.svg.viewBox.baseVal;
    /** @type {Map<number, SVGGElement>} the cards */
    this.cards = new Map();
    /** @type {Map<number, Box>} where the cards are now */
    this.boxes = new Map();
    for (const card of /** @type {NodeListOf<SVGGElement>} */ (this.svg.querySelectorAll("g.node"))) {
      const { node, x, y, w, h } = card.dataset;
      this.cards.set(Number(node), card);
      this.boxes.set(Number(node), { x: Number(x), y: Number(y), width: Number(w), height: Number(h) });
    }
    /** @type {Map<string, SVGGElement>} the rows of columns that the cards show, by `node:column` */
    this.rows = new Map();
    for (const row of /** @type {NodeListOf<SVGGElement>} */ (this.svg.querySelectorAll("g.column"))) {
      this.rows.set(row.dataset.port ?? "", row);
    }
    /** @type {number | null} */
    this.selected = null;
    const stage = /** @type {HTMLElement} */ (this.frame.querySelector(".stage"));
    this.viewport = new Viewport(this.frame, stage, () => this.minimap?.moved());
    this.resize(width, height);
    this.lights = new Lights(this);
    this.folding = new Folding(this);
    /** @type {Minimap | null} */
    this.minimap = null;
    this.#listen();
  }

  /** The size of the drawing. @param {number} width @param {number} height */
  resize(width, height) {
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("width", String(width));
    this.svg.setAttribute("height", String(height));
    this.viewport.size = { width, height };
  }

  /** Shows the plan for the first time. */
  open() {
    this.viewport.open(this.boxes.get(0) ?? null);
    if (this.cards.size > 30) this.minimap = new Minimap(this);
  }

  /**
   * Selects a node: its card is marked, and who listens to `plan:select` shows it.
   * @param {number | null} node
   * @param {{ reveal?: boolean, focus?: boolean, open?: boolean }} [how] whether its card comes into sight, has the
   *   focus, and whether the panel opens where it covers the drawing
   */
  select(node, how = {}) {
    if (this.selected !== null) this.cards.get(this.selected)?.classList.remove("selected");
    this.selected = node;
    if (node !== null) {
      this.folding.unfoldTo(node);
      this.cards.get(node)?.classList.add("selected");
      if (how.reveal) this.reveal(node);
      if (how.focus) this.focus(node);
    }
    tell("plan:select", { board: this, node, open: how.open ?? false });
  }

  /** Brings a card into sight. @param {number} node @param {boolean} [readable] */
  reveal(node, readable = false) {
    const box = this.boxes.get(node);
    if (box) this.viewport.reveal(box, readable);
  }

  /** @param {number} node */
  focus(node) {
    /** @type {any} */ (this.cards.get(node))?.focus({ preventScroll: true });
    this.reveal(node);
  }

  /** The nodes that go into one, as far as they are shown. @param {number} node */
  inputsOf(node) {
    return this.folding.collapsed.has(node) ? [] : this.graph.inputs[node];
  }

  /** @param {number} node */
  usersOf(node) {
    return this.graph.users[node].filter((user) => this.folding.visible.has(user) && !this.folding.collapsed.has(user));
  }

  /** Gives the focus to the first of some cards. @param {number} node where it is now @param {number[]} others */
  step(node, others) {
    this.focus(others[0] ?? node);
  }

  /** Gives the focus to the card above or below among the inputs of the same card. @param {number} node @param {number} step */
  sibling(node, step) {
    const user = this.usersOf(node)[0];
    const siblings = user === undefined ? this.graph.nodes.map((_, each) => each).filter((each) => !this.graph.users[each].length) : [...new Set(this.graph.inputs[user])];
    const y = (/** @type {number} */ each) => this.boxes.get(each)?.y ?? 0;
    siblings.sort((one, other) => y(one) - y(other));
    this.focus(siblings[siblings.indexOf(node) + step] ?? node);
  }

  /** Where the row of a column is, or the row that stands for those which aren't shown. @param {Port} port @returns {Box | null} */
  place([node, column]) {
    const card = this.cards.get(node), box = this.boxes.get(node);
    if (!card || !box || card.classList.contains("away")) return null;
    const row = this.rows.get(`${node}:${column}`) ?? card.querySelector("g.more");
    const hit = row?.querySelector("rect.hit");
    if (!hit) return box;
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(hit.getAttribute(name)));
    return { x: box.x + x, y: box.y + y, width, height };
  }

  #listen() {
    this.svg.addEventListener("click", (event) => {
      const target = /** @type {Element} */ (event.target);
      const card = /** @type {SVGGElement | null} */ (target.closest("g.node"));
      if (!card) return;
      const node = Number(card.dataset.node);
      const row = /** @type {SVGGElement | null} */ (target.closest("g.column"));
      if (target.closest("g.handle")) return this.folding.toggle(node);
      if (!row) return this.select(node, { open: true });
      const port = /** @type {Port} */ ((row.dataset.port ?? "").split(":").map(Number));
      this.select(node);
      this.lights.toggle(port);
    });
    // tabbing to a card shows it
    this.svg.addEventListener("focusin", (event) => {
      const card = /** @type {SVGGElement | null} */ (/** @type {Element} */ (event.target).closest("g.node"));
      if (card?.matches(":focus-visible")) this.reveal(Number(card.dataset.node));
    });
  }
}

/** The element with an id. @param {string} id @returns {any} */
function byId(id) {
  return document.getElementById(id);
}

/**
 * Tells the parts of the page what happened: `plan:select`, `plan:trace`, `plan:fold`.
 * @param {string} what
 * @param {any} detail
 */
function tell(what, detail) {
  document.dispatchEvent(new CustomEvent(what, { detail }));
}
