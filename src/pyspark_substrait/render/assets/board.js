// The drawing of a plan on the page: its elements by the numbers of the nodes, and what is done to it.

/**
 * A rectangle, in the units of the drawing.
 * @typedef {{ x: number, y: number, width: number, height: number }} Box
 */

/** What is left free around a drawing that is shown whole: top, right, bottom, left. */
const FREE = [20, 24, 20, 24];

/** The sizes of names, in pixels, below which details become an overview, and from which on that becomes detailed. */
const FAR = 7;
const NEAR = 19;

class Board {
  /** @param {PlanGraph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {HTMLElement} what the drawing is seen through */
    this.frame = byId(`${graph.prefix}board`);
    /** @type {SVGSVGElement} */
    this.svg = /** @type {any} */ (this.frame.querySelector("svg.plan-graph"));
    /** @type {Shape[]} how it can be shown: with all details first, then those that say more of each node */
    this.shapes = [detailsOf(this.svg), ...graph.overviews.map(overviewOf)];
    /** How it is shown now. */
    this.shape = this.shapes[0];
    /** @type {Map<number, SVGGElement>} the cards */
    this.cards = new Map();
    for (const card of /** @type {NodeListOf<SVGGElement>} */ (this.svg.querySelectorAll("g.node"))) {
      this.cards.set(Number(card.dataset.node), card);
    }
    /** @type {Map<number, Box>} where the cards are now */
    this.boxes = new Map(this.shape.places);
    /** @type {Map<string, SVGGElement>} the rows of columns that the cards show, by `node:column` */
    this.rows = new Map();
    for (const row of /** @type {NodeListOf<SVGGElement>} */ (this.svg.querySelectorAll("g.column"))) {
      this.rows.set(row.dataset.port ?? "", row);
    }
    /** @type {number | null} */
    this.selected = null;
    const stage = /** @type {HTMLElement} */ (this.frame.querySelector(".stage"));
    this.viewport = new Viewport(this.frame, stage, {
      moved: () => {
        this.svg.classList.toggle("faint", this.viewport.scale * this.shape.font < LEGIBLE);
        this.minimap?.moved();
      },
      zoomed: (x, y) => this.#zoomed(x, y),
    });
    this.viewport.size = this.shape.size;
    this.briefs = new Briefs(this);
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
    this.minimap = this.cards.size ? new Minimap(this) : null;
    this.fit();
  }

  /** Shows all of the plan, in the shape that says most where it can be read. @param {boolean} [gliding] */
  fit(gliding = false) {
    this.viewport.free = [...FREE];
    if (!this.folding.collapsed.size) this.show(this.shapes[bestShape([this.shapes], [this.viewport])]);
    this.viewport.fit(gliding);
    this.#clear(gliding);
  }

  /** What lies over the drawing, to work with it. */
  get tools() {
    return /** @type {HTMLElement} */ (this.frame.querySelector(".tools"));
  }

  /** Makes room where cards are under the tools or the map. @param {boolean} gliding */
  #clear(gliding) {
    const { viewport, tools } = this;
    const map = this.minimap?.settle() ? this.minimap.element.offsetHeight : 0;
    const room = Math.max(this.covers(tools) ? tools.offsetHeight : 0, map);
    if (!room) return;
    viewport.free[2] = room + 24;
    viewport.fit(gliding);
    this.minimap?.settle();
  }

  /** How many cards are under an element that lies over the drawing. @param {HTMLElement} element */
  covers(element) {
    const { x, y, scale } = this.viewport, left = element.offsetLeft, top = element.offsetTop;
    return [...this.folding.visible].filter((node) => {
      const box = /** @type {Box} */ (this.boxes.get(node));
      return x + box.x * scale < left + element.offsetWidth && x + (box.x + box.width) * scale > left &&
        y + box.y * scale < top + element.offsetHeight && y + (box.y + box.height) * scale > top;
    }).length;
  }

  /** Shows it in another shape. @param {Shape} shape */
  show(shape) {
    if (shape === this.shape) return;
    this.shape = shape;
    const overview = shape !== this.shapes[0];
    if (overview) this.briefs.draw(shape);
    this.svg.classList.toggle("overview", overview);
    this.svg.classList.toggle("down", shape.down);
    this.folding.arrange();
    tell("plan:shape", { board: this });
  }

  /** Goes from details to the overview, which shows all of the plan, or to the details of the card that matters most. */
  toggleShape() {
    const { viewport, shapes } = this;
    if (this.shape === shapes[0]) {
      const overview = this.#overview();
      if (!overview) return;
      this.show(overview);
      viewport.fit();
      return this.#clear(false);
    }
    this.show(shapes[0]);
    const box = this.boxes.get(this.selected ?? 0);
    if (!box) return;
    const scale = Math.max(viewport.whole(viewport.size), READABLE / shapes[0].font);
    const { clientWidth: width, clientHeight: height } = this.frame;
    viewport.put({ x: box.x + box.width / 2, y: box.y + box.height / 2 }, width / 2, height / 2, scale);
  }

  /** Goes from details to the overview, or back, and leaves in its place what is at a place of the frame. @param {number} x @param {number} y */
  #switchShape(x, y) {
    const { viewport, shapes } = this, from = this.shape;
    const at = { x: (x - viewport.x) / viewport.scale, y: (y - viewport.y) / viewport.scale };
    const [node, box] = this.#nearest(at.x, at.y), to = from === shapes[0] ? this.#overview() : shapes[0];
    if (node === null || !to) return;
    const across = within(at.x - box.x, box.width), down = within(at.y - box.y, box.height), scale = viewport.scale * ratio(from, to);
    this.show(to);
    // all of it is seen larger
    if (to !== shapes[0] && scale <= viewport.whole(viewport.size)) return viewport.fit(true);
    const now = /** @type {Box} */ (this.boxes.get(node));
    viewport.put({ x: now.x + across * now.width, y: now.y + down * now.height }, x, y, scale);
  }

  /** The overview that shows all of the plan best. */
  #overview() {
    const shapes = this.shapes.slice(1);
    return shapes[bestShape([shapes], [this.viewport])];
  }

  /** What is too small to be read becomes an overview, what is large in one becomes detailed. @param {number} x @param {number} y */
  #zoomed(x, y) {
    const { shape, shapes, viewport } = this, size = viewport.scale * shape.font;
    if (shapes.length < 2) return;
    const away = shape === shapes[0] && size < FAR && viewport.whole(viewport.size) * shape.font < READABLE;
    const near = shape !== shapes[0] && size * ratio(shape, shapes[0]) * (shapes[0].font / shape.font) > READABLE * 1.2 && size > NEAR;
    if (away || near) this.#switchShape(x, y);
  }

  /** The card that is nearest to a place, and where it is. @param {number} x @param {number} y @returns {[number | null, Box]} */
  #nearest(x, y) {
    /** @type {[number | null, Box]} */
    let found = [null, { x: 0, y: 0, width: 1, height: 1 }];
    let least = Infinity;
    for (const node of this.folding.visible) {
      const box = this.boxes.get(node);
      if (!box) continue;
      const distance = Math.hypot(Math.max(box.x - x, 0, x - box.x - box.width), Math.max(box.y - y, 0, y - box.y - box.height));
      if (distance < least) [least, found] = [distance, [node, box]];
    }
    return found;
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
    if (box) this.viewport.reveal(box, readable ? READABLE / this.shape.font : 0);
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

  /** Gives the focus to the card before or after it among the inputs of the same card. @param {number} node @param {number} step */
  sibling(node, step) {
    const user = this.usersOf(node)[0];
    const siblings = user === undefined ? this.graph.nodes.map((_, each) => each).filter((each) => !this.graph.users[each].length) : [...new Set(this.graph.inputs[user])];
    const at = (/** @type {number} */ each) => this.boxes.get(each)?.[this.shape.down ? "x" : "y"] ?? 0;
    siblings.sort((one, other) => at(one) - at(other));
    this.focus(siblings[siblings.indexOf(node) + step] ?? node);
  }

  /** Where the row of a column is, or the row that stands for those which aren't shown. @param {Port} port @returns {Box | null} */
  place([node, column]) {
    const card = this.cards.get(node), box = this.boxes.get(node);
    if (!card || !box || card.classList.contains("away")) return null;
    if (this.shape !== this.shapes[0]) return box;
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

/** How much larger things are in one shape than in another. @param {Shape} from @param {Shape} to */
function ratio(from, to) {
  const width = (/** @type {Shape} */ { places }) => [...places.values()].reduce((sum, box) => sum + box.width, 0);
  return width(from) / width(to);
}

/** How far something is in a length, as a part of it. @param {number} place @param {number} length */
function within(place, length) {
  return Math.min(Math.max(place / length, 0), 1);
}

/** The element with an id. @param {string} id @returns {any} */
function byId(id) {
  return document.getElementById(id);
}

/**
 * Tells the parts of the page what happened: `plan:select`, `plan:trace`, `plan:fold`, `plan:shape`.
 * @param {string} what
 * @param {any} detail
 */
function tell(what, detail) {
  document.dispatchEvent(new CustomEvent(what, { detail }));
}
