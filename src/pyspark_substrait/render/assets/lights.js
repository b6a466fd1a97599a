// Lineage: the columns that a column comes from and those that come from it light up, the rest is dimmed.

/** More curves than this hide each other. */
const MOST_CURVES = 3000;

/** Nobody reads a longer list of names. */
const MOST_NAMES = 12;

class Lights {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    /** @type {Port | null} the column whose lineage is lit */
    this.port = null;
    /** Whether columns that only decide which records there are belong to it. */
    this.conditions = false;
    /** @type {Map<string, Port>} */
    this.up = new Map();
    /** @type {Map<string, Port>} */
    this.down = new Map();
    /** What a row of columns that aren't shown said before. @type {Map<Element, string>} */
    this.said = new Map();
  }

  /** @param {Port} port */
  toggle(port) {
    if (this.port?.join(":") === port.join(":")) this.clear();
    else this.show(port);
  }

  /** @param {Port} port */
  show(port) {
    this.#off();
    this.port = port;
    this.up = this.board.graph.upstream(port, this.conditions);
    this.down = this.board.graph.downstream(port, this.conditions);
    this.#on();
    tell("plan:trace", { board: this.board, port });
  }

  /** The lineage of the next column of a card, or of the one before. @param {number} node @param {number} step */
  next(node, step) {
    const count = this.board.graph.columns(node).length;
    if (!count) return;
    const at = this.port?.[0] === node ? this.port[1] + step : step > 0 ? 0 : count - 1;
    this.show([node, (at + count) % count]);
  }

  /** @param {boolean} wanted */
  withConditions(wanted) {
    this.conditions = wanted;
    if (this.port) this.show(this.port);
  }

  clear() {
    if (!this.port) return;
    this.#off();
    this.port = null;
    tell("plan:trace", { board: this.board, port: null });
  }

  /** Draws the curves anew, after cards have moved. */
  redraw() {
    if (!this.port) return;
    this.board.svg.querySelector("g.paths")?.remove();
    this.#curves();
  }

  /** What the lit column is made of, and which columns of the result it goes into, as a text. */
  text() {
    const graph = this.board.graph, port = this.port;
    if (!port) return "";
    const sources = (/** @type {boolean} */ conditions) => [...graph.upstream(port, conditions).values()]
      .filter((each) => isSource(graph, each) && String(each) !== String(port));
    const values = sources(false), known = new Set(values.map(String));
    const decided = this.conditions ? sources(true).filter((each) => !known.has(String(each))) : [];
    const results = [...this.down.values()].filter((each) => !graph.users[each[0]].length && String(each) !== String(port));
    const full = (/** @type {Port} */ each) => graph.fullName(each);
    const from = values.length ? listed(values, full) : isSource(graph, port) ? graph.nodes[port[0]].table : "no column";
    return [
      `${graph.columnName(port)} ← ${from}`,
      ...(decided.length ? [`decided by ${listed(decided, full)}`] : []),
      ...(results.length ? [`goes into ${listed(results, (each) => graph.columnName(each))}`] : []),
    ].join("; ");
  }

  #on() {
    const board = this.board;
    board.svg.classList.add("tracing");
    /** @type {Map<number, number[]>} the lit columns of each node that its card doesn't show */
    const hidden = new Map();
    for (const port of new Map([...this.up, ...this.down]).values()) {
      const [node, column] = port;
      board.cards.get(node)?.classList.add("lit");
      const row = board.rows.get(port.join(":"));
      if (row) row.classList.add("lit");
      else if (hidden.has(node)) hidden.get(node)?.push(column);
      else hidden.set(node, [column]);
    }
    board.rows.get(this.port?.join(":") ?? "")?.classList.add("chosen");
    for (const [node, columns] of hidden) this.#lightHidden(node, columns);
    this.#deciding = this.conditions ? board.graph.fedBy([...this.up.values()].map(([node]) => node)) : new Set();
    for (const node of this.#deciding) board.cards.get(node)?.classList.add("lit");
    for (const edge of /** @type {NodeListOf<SVGGElement>} */ (board.svg.querySelectorAll("g.edge"))) {
      const { source, target } = edge.dataset;
      const lit = [this.up, this.down].some((set) =>
        [...this.#columnsOf(set, Number(target))].some((port) =>
          board.graph.origins(port, this.conditions).some((origin) => origin[0] === Number(source) && set.has(origin.join(":"))),
        ),
      );
      const feeds = edge.classList.contains("outer") || board.graph.nodes[Number(target)].fed?.includes(Number(source));
      edge.classList.toggle("lit", lit || (feeds && this.#deciding.has(Number(target))));
    }
    this.#curves();
  }

  /** @param {Map<string, Port>} set @param {number} node @returns {Port[]} */
  #columnsOf(set, node) {
    let byNode = this.#byNode.get(set);
    if (!byNode) {
      byNode = new Map();
      for (const port of set.values()) {
        const known = byNode.get(port[0]);
        if (known) known.push(port);
        else byNode.set(port[0], [port]);
      }
      this.#byNode.set(set, byNode);
    }
    return byNode.get(node) ?? [];
  }

  /** The nodes that decide which records the lit column has. @type {Set<number>} */
  #deciding = new Set();

  /** @type {WeakMap<Map<string, Port>, Map<number, Port[]>>} */
  #byNode = new WeakMap();

  /** The row of columns that a card doesn't show names those which are lit. @param {number} node @param {number[]} columns */
  #lightHidden(node, columns) {
    const more = /** @type {SVGGElement | null} */ (this.board.cards.get(node)?.querySelector("g.more") ?? null);
    const text = more?.querySelector("text");
    if (!more || !text) return;
    more.classList.add("lit");
    more.dataset.lit = columns.map((column) => `${node}:${column}`).join(" ");
    this.said.set(text, text.textContent ?? "");
    const names = columns.sort((a, b) => a - b).map((column) => this.board.graph.columnName([node, column]));
    const room = Math.floor(((Number(more.querySelector("rect.hit")?.getAttribute("width")) || 160) - 16) / 7);
    const shown = names.join(", ");
    const others = this.board.graph.columns(node).length - this.board.cards.get(node).querySelectorAll("g.column").length - names.length;
    const rest = others > 0 ? ` + ${others.toLocaleString("en")} more` : "";
    const space = Math.max(room - rest.length, 5);
    text.textContent = ([...shown].length > space ? `${[...shown].slice(0, space - 1).join("")}…` : shown) + rest;
  }

  #off() {
    const svg = this.board.svg;
    svg.classList.remove("tracing");
    for (const element of svg.querySelectorAll(".lit, .chosen")) element.classList.remove("lit", "chosen");
    for (const more of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("g.more[data-lit]"))) delete more.dataset.lit;
    for (const [text, said] of this.said) text.textContent = said;
    this.said.clear();
    svg.querySelector("g.paths")?.remove();
  }

  /** A curve from each lit column to what is made of it, and to the line of each card on whose records it decides. */
  #curves() {
    const board = this.board, graph = board.graph, layer = draw("g", { class: "paths" });
    const drawn = new Set();
    const { down } = board.shape;
    const add = (/** @type {Box} */ from, /** @type {Box} */ to, /** @type {string} */ kind) =>
      layer.append(draw("path", { d: link(from, to, down), class: kind }));
    for (const set of [this.up, this.down]) {
      for (const port of set.values()) {
        const values = new Set(graph.origins(port, false).map(String));
        for (const origin of graph.origins(port, this.conditions)) {
          const key = `${origin}>${port}`;
          if (!set.has(origin.join(":")) || drawn.has(key) || drawn.size >= MOST_CURVES) continue;
          const from = board.place(origin), to = board.place(port);
          if (!from || !to) continue;
          drawn.add(key);
          add(from, to, values.has(String(origin)) ? "made" : "decided");
        }
      }
    }
    for (const node of this.#deciding) {
      const card = board.cards.get(node), box = board.boxes.get(node);
      if (!card || !box || card.classList.contains("away")) continue;
      for (const port of graph.nodes[node].conditions ?? []) {
        // other ways than from its inputs have edges of their own
        const from = graph.inputs[node].includes(port[0]) ? board.place(port) : null;
        const to = board.shape === board.shapes[0] ? { ...box, height: 2 * Number(card.dataset.line) } : box;
        if (from && drawn.size < MOST_CURVES) add(from, to, "decided");
      }
    }
    board.svg.append(layer);
  }
}

/** Some columns as a text. @param {Port[]} ports @param {(port: Port) => string} named */
function listed(ports, named) {
  ports.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const names = [...new Set(ports.map(named))];
  return names.length > MOST_NAMES
    ? `${names.slice(0, MOST_NAMES).join(", ")} and ${(names.length - MOST_NAMES).toLocaleString("en")} more`
    : names.join(", ");
}

/** Whether a column comes from outside the plan. @param {PlanGraph} graph @param {Port} port */
function isSource(graph, port) {
  return graph.nodes[port[0]].table !== undefined;
}

/**
 * A line from one box to another: from side to side, or from the foot of one to the head of the other.
 * @param {Box} from
 * @param {Box} to
 * @param {boolean} down
 */
function link(from, to, down) {
  if (!down) return curve(from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2);
  const x1 = from.x + from.width / 2, y1 = from.y + from.height, x2 = to.x + to.width / 2, bend = Math.max((to.y - y1) / 2, 10);
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${to.y - bend} ${x2} ${to.y}`;
}

/** A line that leaves to the right and arrives from the left. @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
function curve(x1, y1, x2, y2) {
  const bend = x2 > x1 ? Math.max((x2 - x1) / 2, 12) : 60 + Math.abs(y2 - y1) / 4;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
