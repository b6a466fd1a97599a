// The panel beside the drawing: the plan as a whole, or all of one relation.

class Panel {
  /** @param {Board[]} boards @param {() => void} resized called when there is more room for them, or less */
  constructor(boards, resized) {
    this.boards = boards;
    this.resized = resized;
    this.element = byId("panel");
    this.body = byId("relation");
    for (const tab of this.#tabs()) {
      tab.addEventListener("click", () => this.show(tab.getAttribute("aria-controls") ?? ""));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const tabs = this.#tabs(), next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
        this.show(next.getAttribute("aria-controls") ?? "");
        next.focus();
      });
    }
    byId("panel-toggle").addEventListener("click", () => this.open(!this.isOpen));
    for (const sort of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("button.sort"))) {
      sort.addEventListener("click", () => sortBy(sort));
    }
    document.addEventListener("plan:select", (event) => {
      const { board, node, open } = /** @type {CustomEvent} */ (event).detail;
      this.#told = null;
      if (node === null) return this.show("plan");
      this.#fill(board, node);
      this.show("relation");
      if (open) this.open(true);
    });
    document.addEventListener("plan:trace", (event) => {
      const { board, port } = /** @type {CustomEvent} */ (event).detail;
      for (const row of this.body.querySelectorAll("tr[data-port]")) {
        const chosen = board === this.#told?.board && row.dataset.port === port?.join(":");
        row.classList.toggle("chosen", chosen);
        row.querySelector("button")?.setAttribute("aria-pressed", String(chosen));
      }
    });
  }

  /** @type {{ board: Board, node: number } | null} */
  #told = null;

  /** @returns {HTMLElement[]} */
  #tabs() {
    return [...this.element.querySelectorAll("[role=tab]")];
  }

  get isOpen() {
    return !document.body.classList.contains("panel-closed");
  }

  /** @param {boolean} wanted */
  open(wanted) {
    if (wanted === this.isOpen) return;
    document.body.classList.toggle("panel-closed", !wanted);
    byId("panel-toggle").setAttribute("aria-expanded", String(wanted));
    this.resized();
  }

  /** Shows one of its sheets. @param {string} sheet the id of it */
  show(sheet) {
    for (const tab of this.#tabs()) {
      const chosen = tab.getAttribute("aria-controls") === sheet;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls") ?? "").hidden = !chosen;
    }
    this.element.querySelector(".sheets").scrollTop = 0;
  }

  /** @param {Board} board @param {number} node */
  #fill(board, node) {
    const { graph } = board, told = graph.nodes[node];
    this.#told = { board, node };
    const parts = [make("h2", "", told.title)];
    if (this.boards.length > 1) parts.unshift(make("p", "quiet", graph.name));
    const about = make("p", "quiet", `${told.about} `);
    if (told.page) {
      const link = /** @type {HTMLAnchorElement} */ (make("a", "", "Specification"));
      link.href = told.page;
      link.rel = "noreferrer";
      link.target = "_blank";
      about.append(link);
    }
    parts.push(about);
    for (const fault of told.faults ?? []) parts.push(make("p", "card error", fault));
    for (const finding of told.findings ?? []) parts.push(this.#finding(graph, node, finding));
    if (told.properties) parts.push(make("h3", "", "Properties"), ...told.properties.map((/** @type {string} */ text) => make("p", "code", text)));
    if (told.margin) parts.push(make("h3", "", "Hints"), make("p", "code", told.margin));
    if (told.figures) parts.push(...this.#figures(told.figures));
    parts.push(...this.#schemas(board, node));
    parts.push(...this.#neighbours(board, node));
    const path = graph.path(node);
    if (path) parts.push(make("h3", "", "Path"), this.#copied("path", path));
    if (told.json) parts.push(this.#json(told.json));
    this.body.replaceChildren(...parts);
  }

  /** @param {PlanGraph} graph @param {number} node @param {Finding} finding */
  #finding(graph, node, [level, code, title, page, what, why, fix, inside]) {
    const lines = [make("p", "tag", [make("b", "", `${level} ${code}`), ` ${title}`]), make("p", "what", what)];
    if (inside) lines.push(make("p", "code quiet", `${inside.startsWith(".") || inside.startsWith("[") ? "…" : ""}${inside}`));
    if (why) {
      const line = make("p", "why", why);
      if (page) {
        const link = /** @type {HTMLAnchorElement} */ (make("a", "", "specification"));
        link.href = page;
        link.rel = "noreferrer";
        link.target = "_blank";
        line.append(" (", link, ")");
      }
      lines.push(line);
    }
    if (fix) lines.push(make("p", "fix", fix));
    return make("div", `card ${level}`, lines);
  }

  /** @param {{ rows: Array<[string, string, string]>, note: string }} figures */
  #figures({ rows, note }) {
    const table = make("table", "figures", rows.map(([name, value, basis]) =>
      make("tr", "", [make("th", "", name), make("td", "number", value), make("td", `basis ${basis}`, basis)])));
    return [make("h3", "", "In the run"), table, ...(note ? [make("p", "quiet", note)] : [])];
  }

  /** @param {Board} board @param {number} node */
  #schemas(board, node) {
    const { graph } = board, told = graph.nodes[node];
    if (told.open) return [make("h3", "", "Columns"), make("p", "quiet", "Only the makers of this relation know its columns.")];
    const columns = graph.columns(node);
    if (!columns.length) return [make("h3", "", "Columns"), make("p", "quiet", "It puts out no columns.")];
    const parts = [make("h3", "", told.emit ? "Columns after emit" : "Columns")];
    parts.push(make("p", "quiet", "Click one to see where it comes from and where it goes."));
    parts.push(table(columns, told.emit, (column, position) => {
      const name = button("name", column[0], () => {
        board.lights.toggle([node, position]);
        if (board.lights.port) board.reveal(node);
      });
      name.setAttribute("aria-pressed", "false");
      return name;
    }, (row, position) => (row.dataset.port = `${node}:${position}`)));
    if (told.emit) {
      const put_out = new Set(told.emit);
      const named = (/** @type {Column} */ column) => make("span", "name", column[0]);
      const dropped = (/** @type {HTMLElement} */ row, /** @type {number} */ position) => row.classList.toggle("dropped", !put_out.has(position));
      parts.push(make("h3", "", "Columns before emit"), table(graph.direct(node), null, named, dropped));
      const emit = told.emit.length > 400 ? `${told.emit.slice(0, 400).join(", ")}, …` : told.emit.join(", ");
      parts.push(make("p", "quiet", `emit: ${emit || "no columns"}`));
    }
    return parts;
  }

  /** @param {Board} board @param {number} node */
  #neighbours(board, node) {
    const { graph } = board;
    const list = (/** @type {string} */ heading, /** @type {number[]} */ nodes) => nodes.length
      ? [make("h3", "", heading), make("p", "links", [...new Set(nodes)].map((other) =>
          button("link", graph.nodes[other].title, () => board.select(other, { reveal: true, focus: true }))))]
      : [];
    return [...list("Inputs", graph.inputs[node]), ...list("Goes into", graph.users[node])];
  }

  /** @param {string} kind @param {string} text */
  #copied(kind, text) {
    const copy = button("copy", "Copy", () => {
      const done = () => say(copy, "Copied");
      navigator.clipboard ? navigator.clipboard.writeText(text).then(done, () => selectText(shown)) : selectText(shown);
    }, `Copy the ${kind}`);
    const shown = make("p", "code", text);
    return make("div", "copied", [shown, copy]);
  }

  /** @param {string} text */
  #json(text) {
    const details = make("details", "", [make("summary", "", "JSON of this relation; its inputs stand as …")]);
    const copy = this.#copied("JSON", text);
    copy.querySelector("p.code")?.classList.add("json");
    details.append(copy);
    return details;
  }
}

/**
 * A table of columns.
 * @param {Column[]} columns
 * @param {number[] | null} emit the positions that they had before emit; null for none
 * @param {(column: Column, position: number) => HTMLElement} named what says the name of one
 * @param {(row: HTMLElement, position: number) => void} each done to every row
 */
function table(columns, emit, named, each) {
  const sources = columns.some((column) => column[2]);
  const heads = ["#", ...(emit ? ["from"] : []), "name", "type", ...(sources ? ["made of"] : [])];
  const rows = columns.map((column, position) => {
    const cells = [make("td", "number quiet", `${position}`)];
    if (emit) cells.push(make("td", "number quiet", `${emit[position] ?? ""}`));
    cells.push(make("td", "label", [named(column, position)]), make("td", "code type", column[1]));
    if (sources) cells.push(make("td", "code", column[2] ?? ""));
    const row = make("tr", column[3] ? "new" : "", cells);
    each(row, position);
    return row;
  });
  const head = heads.map((text) => make("th", text === "#" || text === "from" ? "number" : "", text));
  return make("div", "wide", [make("table", "schema", [make("thead", "", [make("tr", "", head)]), make("tbody", "", rows)])]);
}

/** Sorts the table of the run, the largest first. @param {HTMLElement} sort the button at the head of a column */
function sortBy(sort) {
  const body = sort.closest("table")?.tBodies[0], by = sort.dataset.sort ?? "";
  if (!body) return;
  body.append(...[...body.rows].sort((one, other) => Number(other.dataset[by]) - Number(one.dataset[by])));
  for (const each of sort.closest("tr")?.querySelectorAll("button.sort") ?? []) {
    each.setAttribute("aria-pressed", String(each === sort));
  }
}

/** @param {Element} element */
function selectText(element) {
  getSelection()?.selectAllChildren(element);
}
