// Collapsing: the inputs of a card go away, and what is left moves together.

/** What is left between cards where others went away. */
const GAP = 64;

class Folding {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    /** @type {Set<number>} the nodes whose inputs are hidden */
    this.collapsed = new Set();
    /** @type {Set<number>} */
    this.visible = new Set(board.cards.keys());
    /** @type {Map<number, Box>} where the cards are when nothing is collapsed */
    this.places = new Map(board.boxes);
    const { width, height } = board.svg.viewBox.baseVal;
    this.size = { width, height };
  }

  /** @type {Array<{ frame: SVGGElement, box: Box, members: number[] }> | null} */
  #frames = null;

  /** @type {Map<Element, string>} the ways of edges when nothing is collapsed */
  #ways = new Map();

  /** Gives each card that has inputs a handle. */
  addHandles() {
    for (const [node, card] of this.board.cards) {
      if (!this.board.graph.inputs[node].length) continue;
      const handle = draw("g", { class: "handle", transform: `translate(16,${Number(card.dataset.h) + 2})` });
      handle.append(
        draw("circle", { r: 12, class: "reach" }), draw("circle", { r: 7, class: "knob" }),
        draw("path", { d: "M-3 0H3", class: "sign" }),
      );
      const title = draw("title");
      title.textContent = "Collapse what goes in here (space)";
      handle.prepend(title);
      card.append(handle);
    }
  }

  /** @param {number} node */
  toggle(node) {
    if (!this.board.graph.inputs[node].length) return;
    if (!this.collapsed.delete(node)) this.collapsed.add(node);
    this.#apply(node);
  }

  /** Collapses the inputs of all that the result is made of, but for the first nodes. */
  collapseAll() {
    const { graph } = this.board;
    this.collapsed = new Set(graph.nodes.keys());
    for (const node of graph.nodes.keys()) {
      if (!graph.inputs[node].length) this.collapsed.delete(node);
      else if (graph.nodes[node].kind === "root") this.collapsed.delete(node);
    }
    this.#apply(0);
  }

  expandAll() {
    if (!this.collapsed.size) return;
    this.collapsed.clear();
    this.#apply(0);
  }

  /** Expands what hides a node. @param {number} node */
  unfoldTo(node) {
    if (this.visible.has(node)) return;
    const { graph } = this.board, pending = [node], seen = new Set();
    for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
      if (seen.has(each)) continue;
      seen.add(each);
      for (const user of graph.users[each].slice(0, 1)) {
        this.collapsed.delete(user);
        pending.push(user);
      }
    }
    this.#apply(node);
  }

  /** How many nodes a collapsed card hides. @param {number} node */
  hidden(node) {
    return this.board.graph.below(node).filter((each) => !this.visible.has(each)).length;
  }

  /** @param {number} anchor the card that stays where it is on the screen */
  #apply(anchor) {
    const { board } = this, before = board.boxes.get(anchor);
    this.visible = board.graph.visible(this.collapsed);
    this.#moveCards();
    this.#moveEdges();
    this.#moveFrames();
    for (const [node, card] of board.cards) {
      const folded = this.collapsed.has(node) && this.visible.has(node);
      if (folded || card.classList.contains("folded")) this.#tellHidden(node, card, folded);
    }
    const after = board.boxes.get(anchor), { viewport } = board;
    if (before && after && this.visible.has(anchor)) {
      viewport.x += (before.x - after.x) * viewport.scale;
      viewport.y += (before.y - after.y) * viewport.scale;
    }
    viewport.pan(0, 0);
    board.lights.redraw();
    board.minimap?.draw();
    tell("plan:fold", { board });
  }

  #moveCards() {
    const { board } = this;
    const left = [...this.visible].map((node) => /** @type {Box} */ (this.places.get(node)));
    const all = [...this.places.values()];
    const x = closed(left.map(across), all.map(across), this.size.width);
    const y = closed(left.map(down), all.map(down), this.size.height);
    for (const [node, card] of board.cards) {
      card.classList.toggle("away", !this.visible.has(node));
      if (!this.visible.has(node)) continue;
      const place = /** @type {Box} */ (this.places.get(node));
      const box = { ...place, x: x.at(place.x), y: y.at(place.y) };
      board.boxes.set(node, box);
      card.setAttribute("transform", `translate(${box.x},${box.y})`);
    }
    board.resize(x.size, y.size);
  }

  /** How far a card is from its place. @param {number} node */
  #moved(node) {
    const place = /** @type {Box} */ (this.places.get(node)), box = /** @type {Box} */ (this.board.boxes.get(node));
    return { x: box.x - place.x, y: box.y - place.y };
  }

  #moveEdges() {
    for (const edge of /** @type {NodeListOf<SVGGElement>} */ (this.board.svg.querySelectorAll("g.edge"))) {
      const source = Number(edge.dataset.source), target = Number(edge.dataset.target);
      const seen = this.visible.has(source) && this.visible.has(target) &&
        (edge.classList.contains("outer") || !this.collapsed.has(target));
      edge.classList.toggle("away", !seen);
      if (!seen) continue;
      const from = this.#moved(source), to = this.#moved(target);
      const same = Math.abs(from.x - to.x) < 0.5 && Math.abs(from.y - to.y) < 0.5;
      for (const path of edge.querySelectorAll("path")) {
        const way = this.#ways.get(path) ?? path.getAttribute("d") ?? "";
        this.#ways.set(path, way);
        path.setAttribute("d", same ? way : this.#between(edge, source, target));
        path.setAttribute("transform", same ? `translate(${from.x},${from.y})` : "");
      }
      for (const text of edge.querySelectorAll("text")) {
        const by = text.classList.contains("side") ? to : from;
        text.setAttribute("transform", `translate(${by.x},${by.y})`);
      }
    }
  }

  /** @param {SVGGElement} edge @param {number} source @param {number} target */
  #between(edge, source, target) {
    const from = /** @type {Box} */ (this.board.boxes.get(source)), to = /** @type {Box} */ (this.board.boxes.get(target));
    const { y1, y2 } = edge.dataset;
    if (edge.classList.contains("outer")) {
      return curve(from.x + from.width / 2, from.y + (from.y < to.y ? from.height : 0), to.x + to.width / 2, to.y + (from.y < to.y ? 0 : to.height));
    }
    return curve(from.x + from.width, from.y + Number(y1), to.x, to.y + Number(y2));
  }

  #moveFrames() {
    this.#frames ??= this.#allFrames();
    for (const { frame, box, members } of this.#frames) {
      const inside = members.filter((node) => this.visible.has(node)).map((node) => /** @type {Box} */ (this.board.boxes.get(node)));
      frame.classList.toggle("away", inside.length === 0);
      const rect = frame.querySelector("rect"), text = frame.querySelector("text");
      if (!inside.length || !rect) continue;
      const whole = bounds(members.map((node) => /** @type {Box} */ (this.places.get(node)))), now = bounds(inside);
      const x = now.x - (whole.x - box.x), y = now.y - (whole.y - box.y);
      for (const [name, value] of Object.entries({
        x, y, width: now.width + box.width - whole.width, height: now.height + box.height - whole.height,
      })) rect.setAttribute(name, String(value));
      text?.setAttribute("transform", `translate(${x - box.x},${y - box.y})`);
    }
  }

  /** The frames of subqueries, and which cards are in each. */
  #allFrames() {
    return [.../** @type {NodeListOf<SVGGElement>} */ (this.board.svg.querySelectorAll("g.group"))].map((frame) => {
      const rect = frame.querySelector("rect");
      const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect?.getAttribute(name)));
      const members = [...this.places].filter(([, card]) =>
        card.x >= x && card.y >= y && card.x + card.width <= x + width && card.y + card.height <= y + height);
      return { frame, box: { x, y, width, height }, members: members.map(([node]) => node) };
    });
  }

  /** @param {number} node @param {SVGGElement} card @param {boolean} folded */
  #tellHidden(node, card, folded) {
    card.classList.toggle("folded", folded);
    card.querySelector("g.told")?.remove();
    const handle = card.querySelector("g.handle");
    handle?.querySelector("path.sign")?.setAttribute("d", folded ? "M-3 0H3M0-3V3" : "M-3 0H3");
    if (!folded) return;
    const count = this.hidden(node);
    const told = draw("g", { class: "told" }), text = draw("text", { x: 12, y: Number(card.dataset.h) + 14 });
    text.textContent = count ? `${counted(count, "relation")} hidden` : "nothing hidden: all is used elsewhere";
    told.append(text);
    card.append(told);
  }
}

/** @param {Box} box @returns {[number, number]} */
function across(box) {
  return [box.x, box.x + box.width];
}

/** @param {Box} box @returns {[number, number]} */
function down(box) {
  return [box.y, box.y + box.height];
}

/** Around some boxes. @param {Box[]} boxes @returns {Box} */
function bounds(boxes) {
  const x = Math.min(...boxes.map((box) => box.x)), y = Math.min(...boxes.map((box) => box.y));
  return {
    x, y,
    width: Math.max(...boxes.map((box) => box.x + box.width)) - x,
    height: Math.max(...boxes.map((box) => box.y + box.height)) - y,
  };
}

/**
 * Where things are on one axis after the space was closed that nothing takes any more.
 * @param {Array<[number, number]>} left what is still there, from and to
 * @param {Array<[number, number]>} all what was there
 * @param {number} size of the whole
 * @returns {{ at: (place: number) => number, size: number }}
 */
function closed(left, all, size) {
  const margin = Math.min(...all.map(([from]) => from));
  const taken = [...left].sort((one, other) => one[0] - other[0]);
  /** @type {Array<[number, number]>} where a band begins that nothing takes, and how much of it goes */
  const cuts = [];
  let end = 0;
  for (const [from, to] of taken) {
    const keep = end === 0 ? margin : GAP;
    if (from - end > keep && all.some(([start, stop]) => start < from && stop > end)) cuts.push([end, from - end - keep]);
    end = Math.max(end, to);
  }
  const rest = size - Math.max(...all.map(([, to]) => to));
  const total = cuts.reduce((sum, [, cut]) => sum + cut, 0);
  return {
    at: (place) => cuts.reduce((moved, [from, cut]) => (place >= from ? moved - cut : moved), place),
    size: end + rest - total,
  };
}
