// Collapsing: the inputs of a card go away, and what is left moves together.

/** What is left between cards where others went away, for each pixel of the font of names. */
const GAP = 5;

class Folding {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    /** @type {Set<number>} the nodes whose inputs are hidden */
    this.collapsed = new Set();
    /** @type {Set<number>} */
    this.visible = new Set(board.cards.keys());
  }

  /** Where the cards are when nothing is collapsed. */
  get places() {
    return this.board.shape.places;
  }

  /** @type {Array<{ frame: SVGGElement, members: number[] }> | null} */
  #frames = null;

  /** @type {Map<Element, [number, number]>} where the texts of edges are, among all details: distances from the end that they belong to */
  #texts = new Map();

  /** Gives each card that has inputs a handle. */
  addHandles() {
    for (const [node, card] of this.board.cards) {
      if (!this.board.graph.inputs[node].length) continue;
      const handle = draw("g", { class: "handle" });
      handle.append(
        draw("circle", { r: 12, class: "reach" }), draw("circle", { r: 7, class: "knob" }),
        draw("path", { d: "M-3 0H3", class: "sign" }),
      );
      const title = draw("title");
      title.textContent = "Collapse what goes in here (space)";
      handle.prepend(title);
      card.append(handle);
    }
    this.#placeHandles();
  }

  /** At the foot of a card with details; in an overview at the side at which inputs arrive. */
  #placeHandles() {
    const { shape, shapes, cards } = this.board;
    for (const [node, { width, height }] of this.places) {
      const [x, y] = shape === shapes[0] ? [16, height + 2] : shape.down ? [width / 2, -1] : [-1, height / 2];
      cards.get(node)?.querySelector("g.handle")?.setAttribute("transform", `translate(${x},${y})`);
    }
  }

  /** Puts everything where the shape of the drawing has it. */
  arrange() {
    this.#placeAll();
    this.#placeHandles();
    for (const node of this.collapsed) this.#tellHidden(node, /** @type {SVGGElement} */ (this.board.cards.get(node)), this.visible.has(node));
    this.board.lights.redraw();
    this.board.minimap?.draw();
  }

  #placeAll() {
    this.#moveCards();
    this.#moveEdges();
    this.#moveFrames();
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
    this.#placeAll();
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
    const { board } = this, { size, font } = board.shape;
    const left = [...this.visible].map((node) => /** @type {Box} */ (this.places.get(node)));
    const all = [...this.places.values()];
    const x = closed(left.map(across), all.map(across), size.width, font * GAP);
    const y = closed(left.map(down), all.map(down), size.height, font * GAP);
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
    const { shape, svg } = this.board, edges = /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("g.edge"));
    edges.forEach((edge, number) => {
      const source = Number(edge.dataset.source), target = Number(edge.dataset.target);
      const seen = this.visible.has(source) && this.visible.has(target) &&
        (edge.classList.contains("outer") || !this.collapsed.has(target));
      edge.classList.toggle("away", !seen);
      if (!seen) return;
      const from = this.#moved(source), to = this.#moved(target);
      const same = Math.abs(from.x - to.x) < 0.5 && Math.abs(from.y - to.y) < 0.5;
      for (const path of edge.querySelectorAll("path")) {
        path.setAttribute("d", same ? shape.ways[number] : this.#between(edge, source, target));
        path.setAttribute("transform", same ? `translate(${from.x},${from.y})` : "");
      }
      for (const text of edge.querySelectorAll("text")) this.#moveText(text, source, target);
    });
  }

  /** A text of an edge goes with the end that it belongs to. @param {SVGTextElement} text @param {number} source @param {number} target */
  #moveText(text, source, target) {
    const { shape, shapes, boxes } = this.board, node = text.classList.contains("side") ? target : source;
    const now = /** @type {Box} */ (boxes.get(node)), details = /** @type {Box} */ (shapes[0].places.get(node));
    const [x, y] = this.#texts.get(text) ?? [Number(text.getAttribute("x")) - details.x, Number(text.getAttribute("y")) - details.y];
    this.#texts.set(text, [x, y]);
    // in an overview only numbers of records are left; they stand behind their card
    const place = shape === shapes[0] ? [x, y] : shape.down ? [now.width / 2 + 5, now.height + 12] : [now.width + 4, now.height / 2 - 4];
    text.setAttribute("x", String(now.x + place[0]));
    text.setAttribute("y", String(now.y + place[1]));
  }

  /** @param {SVGGElement} edge @param {number} source @param {number} target */
  #between(edge, source, target) {
    const { shape, shapes, boxes } = this.board;
    const from = /** @type {Box} */ (boxes.get(source)), to = /** @type {Box} */ (boxes.get(target));
    const { y1, y2 } = edge.dataset;
    if (edge.classList.contains("outer")) {
      return curve(from.x + from.width / 2, from.y + (from.y < to.y ? from.height : 0), to.x + to.width / 2, to.y + (from.y < to.y ? 0 : to.height));
    }
    if (shape === shapes[0]) return curve(from.x + from.width, from.y + Number(y1), to.x, to.y + Number(y2));
    return link(from, to, shape.down);
  }

  #moveFrames() {
    this.#frames ??= this.#allFrames();
    this.#frames.forEach(({ frame, members }, number) => {
      const box = this.board.shape.frames[number];
      const inside = members.filter((node) => this.visible.has(node)).map((node) => /** @type {Box} */ (this.board.boxes.get(node)));
      frame.classList.toggle("away", inside.length === 0);
      const rect = frame.querySelector("rect"), text = frame.querySelector("text");
      if (!inside.length || !rect) return;
      const whole = bounds(members.map((node) => /** @type {Box} */ (this.places.get(node)))), now = bounds(inside);
      const x = now.x - (whole.x - box.x), y = now.y - (whole.y - box.y);
      for (const [name, value] of Object.entries({
        x, y, width: now.width + box.width - whole.width, height: now.height + box.height - whole.height,
      })) rect.setAttribute(name, String(value));
      text?.setAttribute("x", String(x + 12));
      text?.setAttribute("y", String(y + 17));
    });
  }

  /** The frames of subqueries, and which cards are in each. */
  #allFrames() {
    const [{ frames, places }] = this.board.shapes;
    return [.../** @type {NodeListOf<SVGGElement>} */ (this.board.svg.querySelectorAll("g.group"))].map((frame, number) => {
      const { x, y, width, height } = frames[number];
      const members = [...places].filter(([, card]) =>
        card.x >= x && card.y >= y && card.x + card.width <= x + width && card.y + card.height <= y + height);
      return { frame, members: members.map(([node]) => node) };
    });
  }

  /** @param {number} node @param {SVGGElement} card @param {boolean} folded */
  #tellHidden(node, card, folded) {
    card.classList.toggle("folded", folded);
    card.querySelector("g.told")?.remove();
    const handle = card.querySelector("g.handle");
    handle?.querySelector("path.sign")?.setAttribute("d", folded ? "M-3 0H3M0-3V3" : "M-3 0H3");
    if (!folded) return;
    const count = this.hidden(node), { shape, shapes } = this.board, { width, height } = /** @type {Box} */ (this.places.get(node));
    const told = draw("g", { class: "told" });
    const text = shape === shapes[0] ? draw("text", { x: 12, y: height + 14 })
      : shape.down ? draw("text", { x: width / 2 + 10, y: -4 })
      : draw("text", { x: -11, y: height / 2 + 4, "text-anchor": "end" });
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
 * @param {number} gap what is left between two
 * @returns {{ at: (place: number) => number, size: number }}
 */
function closed(left, all, size, gap) {
  const margin = Math.min(...all.map(([from]) => from));
  const taken = [...left].sort((one, other) => one[0] - other[0]);
  /** @type {Array<[number, number]>} where a band begins that nothing takes, and how much of it goes */
  const cuts = [];
  let end = 0;
  for (const [from, to] of taken) {
    const keep = end === 0 ? margin : gap;
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
