// Search: over titles, properties, columns, types, paths and findings.

/** So much of a path is looked at, from its end: in deep plans paths are long. */
const PATH_SEARCHED = 300;

class Search {
  /** @param {Board[]} boards */
  constructor(boards) {
    this.boards = boards;
    this.field = byId("search");
    this.count = byId("search-count");
    /** @type {Array<{ board: Board, node: number }>} the cards that match */
    this.found = [];
    this.at = -1;
    let waiting = 0;
    this.field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#search(), 120);
    });
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        clearTimeout(waiting);
        if (this.field.value.trim().toLowerCase() !== this.#wanted) this.#search();
        else this.go(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        event.stopPropagation();
        this.field.value = "";
        this.#search();
        this.field.blur();
      }
    });
    byId("search-next").addEventListener("click", () => this.go(1));
    byId("search-previous").addEventListener("click", () => this.go(-1));
  }

  #wanted = "";

  /** @type {Map<Board, string[]>} what there is to find in each node */
  #texts = new Map();

  open() {
    this.field.focus();
    this.field.select();
  }

  /** @param {Board} board */
  #textsOf(board) {
    let known = this.#texts.get(board);
    if (!known) {
      const { graph } = board;
      known = graph.nodes.map((told, node) => [
        told.title, ...(told.properties ?? []), told.margin ?? "", ...(told.faults ?? []), (graph.path(node) ?? "").slice(-PATH_SEARCHED),
        ...graph.columns(node).map(([label, type, source]) => `${label}\t${type}\t${source ?? ""}`),
        ...(told.findings ?? []).map((/** @type {Finding} */ finding) => finding.join("\t")),
      ].join("\n").toLowerCase());
      this.#texts.set(board, known);
    }
    return known;
  }

  #search() {
    const wanted = this.field.value.trim().toLowerCase();
    this.#wanted = wanted;
    this.found = [];
    this.at = -1;
    for (const board of this.boards) {
      this.#textsOf(board).forEach((text, node) => {
        const matches = wanted !== "" && text.includes(wanted);
        if (matches) this.found.push({ board, node });
        board.cards.get(node)?.classList.toggle("found", matches);
      });
      for (const [port, row] of board.rows) {
        const [node, column] = port.split(":").map(Number);
        row.classList.toggle("found", wanted !== "" && board.graph.columnName([node, column]).toLowerCase().includes(wanted));
      }
      board.svg.classList.toggle("searching", wanted !== "");
    }
    byId("search-next").disabled = byId("search-previous").disabled = this.found.length === 0;
    if (this.found.length) this.go(1);
    else say(this.count, wanted ? "nothing found" : "");
  }

  /** Goes to the next card that matches. @param {number} step */
  go(step) {
    if (!this.found.length) return;
    this.at = (this.at + step + this.found.length) % this.found.length;
    const { board, node } = this.found[this.at];
    say(this.count, `${this.at + 1} of ${this.found.length}`);
    board.select(node);
    board.reveal(node, true);
  }
}
