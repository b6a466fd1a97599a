// Two plans beside each other: which cards belong together, and what differs in them.

/**
 * Two nodes that belong together: their numbers (-1 for none), the mark, numbers of changes, positions of the columns
 * that differ (-1 for none).
 * @typedef {[number, number, string, number[], Array<[number, number]>]} Pair
 */

/** How long the pointer rests on a card before its counterpart comes into sight, in milliseconds. */
const REST = 350;

/** The signs of marks: plus, minus, not equal, two arrows. @type {Record<string, string>} */
const SIGNS = {
  "m-added": "M-4 0H4M0-4V4",
  "m-removed": "M-4 0H4",
  "m-changed": "M-4-2H4M-4 2H4M2-5L-2 5",
  "m-moved": "M-5 0H5M-2.5-2.5L-5 0L-2.5 2.5M2.5-2.5L5 0L2.5 2.5",
};

class Comparing {
  /**
   * @param {Board[]} boards the first plan and the second
   * @param {Panel} panel
   * @param {any} told what `viewing/comparison.py` says
   */
  constructor(boards, panel, told) {
    this.boards = boards;
    this.panel = panel;
    /** @type {Pair[]} */
    this.pairs = told.pairs;
    /** @type {Array<[string, string, string, number[], number[]]>} what, before, after, nodes in each plan */
    this.changes = told.changes;
    /** @type {Array<Map<number, Pair[]>>} the pairs of each node, for each plan */
    this.byNode = boards.map(() => new Map());
    for (const pair of this.pairs) {
      for (const side of [0, 1]) {
        const node = Number(pair[side]), known = this.byNode[side].get(node);
        if (node >= 0) known ? known.push(pair) : this.byNode[side].set(node, [pair]);
      }
    }
    this.same = told.same;
  }

  /** Marks what differs, and shows the list of changes. */
  open() {
    if (!this.same) for (const board of this.boards) board.svg.classList.add("compared");
    for (const side of [0, 1]) this.#signCards(side);
    this.#markColumns();
    this.#listen();
    this.#keepMiddles();
    this.panel.show("changes");
    this.fit();
    if (this.changes.length && !this.boards.some(showsDifference)) this.#reveal(this.#nodesOf(0), true);
  }

  /**
   * Shows both plans whole, in one shape and at one scale. Their results stand above each other, so that what they have
   * in common does, too.
   */
  fit() {
    const viewports = this.boards.map((board) => board.viewport);
    const names = this.boards[0].shapes.map(({ name }) => name).filter((name) => this.boards[1].shapes.some((shape) => shape.name === name));
    const shapes = this.boards.map((board) => names.map((name) => /** @type {Shape} */ (board.shapes.find((shape) => shape.name === name))));
    for (const board of this.boards) board.viewport.free = [20, 24, board.tools.offsetHeight + 16, 24];
    const best = bestShape(shapes, viewports);
    this.boards.forEach((board, side) => board.show(shapes[side][best]));
    const scale = Math.min(...viewports.map((viewport) => viewport.whole(viewport.size)));
    const widest = Math.max(...viewports.map(({ size }) => size.width));
    for (const board of this.boards) {
      board.viewport.fit(false, scale, shapes[0][best].down ? 0 : ((widest - board.viewport.size.width) * scale) / 2);
      board.minimap?.draw();
      board.minimap?.settle();
    }
  }

  #resting = 0;

  /** @type {Set<Element>} the cards that are shown as counterparts */
  #lit = new Set();

  /** @type {Array<[number, number]>} side and node of the cards that stay lit when the pointer goes elsewhere */
  #kept = [];

  /** The nodes that a node belongs to in the other plan. @param {number} side @param {number} node @returns {number[]} */
  partners(side, node) {
    const found = (this.byNode[side].get(node) ?? []).map((pair) => Number(pair[1 - side]));
    return [...new Set(found.filter((other) => other >= 0))];
  }

  /** When the panel comes or goes, what was in the middle of a drawing stays there: two of them leave little room. */
  #keepMiddles() {
    let windowSize = `${innerWidth} ${innerHeight}`;
    for (const { frame, viewport } of this.boards) {
      let { clientWidth: width, clientHeight: height } = frame;
      new ResizeObserver(() => {
        const dx = (frame.clientWidth - width) / 2, dy = (frame.clientHeight - height) / 2;
        if (windowSize === `${innerWidth} ${innerHeight}` && !viewport.untouched) viewport.pan(dx, dy);
        ({ clientWidth: width, clientHeight: height } = frame);
      }).observe(frame);
    }
    addEventListener("resize", () => setTimeout(() => (windowSize = `${innerWidth} ${innerHeight}`), 100));
  }

  /** A sign on each card that differs, for who doesn't tell it by the colour. @param {number} side */
  #signCards(side) {
    for (const card of this.boards[side].cards.values()) {
      const mark = markOf(card);
      if (!mark) continue;
      card.setAttribute("aria-label", `${card.getAttribute("aria-label")}; ${mark.slice(2)}`);
      const sign = draw("g", { class: "sign-of-mark", transform: "translate(3,3)" });
      sign.append(draw("circle", { r: 9 }), draw("path", { d: SIGNS[mark] }));
      card.append(sign);
    }
  }

  #markColumns() {
    for (const pair of this.pairs) {
      for (const columns of pair[4]) {
        const mark = columns[0] < 0 ? "added" : columns[1] < 0 ? "removed" : "changed";
        for (const side of [0, 1]) {
          this.boards[side].rows.get(`${pair[side]}:${columns[side]}`)?.classList.add(`m-${mark}`);
        }
      }
    }
  }

  #listen() {
    this.boards.forEach((board, side) => {
      const over = (/** @type {Event} */ event) => {
        const card = /** @type {SVGGElement | null} */ (/** @type {Element} */ (event.target).closest("g.node"));
        clearTimeout(this.#resting);
        if (!card) return this.#light(this.#kept);
        const node = Number(card.dataset.node);
        this.#light([...this.#kept, ...this.#others(side, node)]);
        this.#resting = setTimeout(() => {
          if (!board.frame.classList.contains("dragged")) this.#reveal(this.#others(side, node));
        }, REST);
      };
      board.svg.addEventListener("pointerover", over);
      board.svg.addEventListener("pointerleave", () => {
        clearTimeout(this.#resting);
        this.#light(this.#kept);
      });
    });
    document.addEventListener("keydown", (event) => {
      const target = /** @type {Element} */ (event.target), step = { n: 1, N: -1 }[event.key];
      if (!step || event.altKey || event.metaKey || event.ctrlKey || target.matches("input, textarea")) return;
      event.preventDefault();
      this.step(step);
    });
    document.addEventListener("plan:select", (event) => {
      const { board, node } = /** @type {CustomEvent} */ (event).detail, side = this.boards.indexOf(board);
      this.#kept = node === null ? [] : this.#others(side, node);
      this.#light(this.#kept);
      this.#reveal(this.#kept);
      if (node === null) this.panel.show("changes");
      else this.#tell(side, node);
    });
    for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-change]"))) {
      item.addEventListener("click", () => this.go(Number(item.dataset.change)));
    }
  }

  /** The change that is shown; -1 for none. */
  at = -1;

  /** Shows a change in both plans. @param {number} change */
  go(change) {
    this.at = change;
    this.#kept = this.#nodesOf(change);
    for (const board of this.boards) board.cards.get(board.selected ?? -1)?.classList.remove("selected");
    this.#light(this.#kept);
    this.#reveal(this.#kept, true);
    for (const item of document.querySelectorAll("[data-change]")) {
      const shown = /** @type {HTMLElement} */ (item).dataset.change === String(change);
      item.toggleAttribute("aria-current", shown);
      if (shown) item.scrollIntoView({ block: "nearest" });
    }
  }

  /** Side and number of the nodes that show a change. @param {number} change @returns {Array<[number, number]>} */
  #nodesOf(change) {
    const [, , , ...nodes] = this.changes[change];
    return [0, 1].flatMap((side) => nodes[side].map((node) => /** @type {[number, number]} */ ([side, node])));
  }

  /** Goes to the next change. @param {number} by how many further */
  step(by) {
    if (!this.changes.length) return;
    this.panel.show("changes");
    this.go((Math.max(this.at, by < 0 ? 0 : -1) + by + this.changes.length) % this.changes.length);
  }

  /** @param {number} side @param {number} node @returns {Array<[number, number]>} */
  #others(side, node) {
    return this.partners(side, node).map((other) => [1 - side, other]);
  }

  /** @param {Array<[number, number]>} nodes */
  #light(nodes) {
    const cards = new Set(nodes.map(([side, node]) => this.boards[side].cards.get(node)).filter((card) => card !== undefined));
    for (const card of this.#lit) if (!cards.has(/** @type {any} */ (card))) card.classList.remove("partner");
    for (const card of cards) card.classList.add("partner");
    this.#lit = cards;
  }

  /** Brings the first of some nodes of each plan into sight. @param {Array<[number, number]>} nodes @param {boolean} [readable] */
  #reveal(nodes, readable = false) {
    for (const side of [0, 1]) {
      const found = nodes.find((each) => each[0] === side);
      if (!found) continue;
      this.boards[side].folding.unfoldTo(found[1]);
      this.boards[side].reveal(found[1], readable);
    }
  }

  /** Says in the panel what differs in a node. @param {number} side @param {number} node */
  #tell(side, node) {
    const pairs = this.byNode[side].get(node) ?? [], numbers = [...new Set(pairs.flatMap((pair) => pair[3]))];
    if (!pairs.length) return;
    const parts = [make("p", `verdict mark-${pairs[0][2]}`, verdict(pairs, side))];
    for (const number of numbers) {
      const [what, before, after] = this.changes[number];
      const lines = [make("p", "", what.split("`").map((text, at) => make(at % 2 ? "code" : "span", "", text)))];
      if (before) lines.push(make("p", "code before", before));
      if (after) lines.push(make("p", "code after", after));
      parts.push(make("div", "card difference", lines));
    }
    const others = this.partners(side, node), { graph } = this.boards[1 - side];
    if (others.length) {
      parts.push(make("p", "links", others.map((other) => button(
        "link", `${graph.nodes[other].title} in ${graph.name}`,
        () => this.boards[1 - side].select(other, { reveal: true, focus: true }),
      ))));
    }
    this.panel.body.querySelector("h2")?.after(...parts);
  }
}

/** The class of a card that differs. @param {Element} card */
function markOf(card) {
  return [...card.classList].find((kind) => kind in SIGNS);
}

/** Whether some of the cards that differ are in sight. @param {Board} board */
function showsDifference({ cards, boxes, viewport }) {
  const seen = viewport.seen();
  return [...cards].some(([node, card]) => {
    const box = boxes.get(node);
    return box && markOf(card) && box.x + box.width > seen.x && box.x < seen.x + seen.width &&
      box.y + box.height > seen.y && box.y < seen.y + seen.height;
  });
}

/** What became of a node, in words. @param {Pair[]} pairs @param {number} side */
function verdict(pairs, side) {
  const [a, b, mark] = pairs.find((pair) => pair[2] !== "same") ?? pairs[0];
  if (mark === "same" && (a < 0 || b < 0)) return "Only in this plan, where it changes nothing";
  return {
    same: "The same in both plans",
    moved: "The same, in another place",
    changed: "Changed",
    removed: "Only in the first plan",
    added: "Only in the second plan",
  }[mark] ?? mark;
}
