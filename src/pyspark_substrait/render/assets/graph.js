// A plan as a graph, and where its columns come from. Nothing here looks at the page.

/**
 * A column that a node puts out: the number of the node and the position of the column.
 * @typedef {[number, number]} Port
 */
/**
 * A column: label, type, what it is made of where that says more than the label, 1 where the node makes it.
 * @typedef {[string, string, string?, number?]} Column
 */
/**
 * A finding: level, code, title of its class, page of the specification, what, why, fix, path.
 * @typedef {[string, string, string, string, string, string, string, string]} Finding
 */

class PlanGraph {
  /** @param {any} data what `viewing/data.py` says of a graph */
  constructor(data) {
    /** @type {string} what the ids in its drawing begin with */
    this.prefix = data.prefix;
    /** @type {string} */
    this.name = data.name;
    /** @type {any[]} */
    this.nodes = data.nodes;
    /** @type {Array<[number, number, string, string]>} source, target, kind, label */
    this.edges = data.edges;
    /** @type {any[]} its arrangements at a small scale, those that say more first */
    this.overviews = data.overviews;
    /** @type {Finding[]} those of the plan as a whole */
    this.findings = data.findings;
    /** @type {number[][]} the nodes that go into each, subqueries last */
    this.inputs = this.nodes.map(() => []);
    /** @type {number[][]} the nodes that each goes into */
    this.users = this.nodes.map(() => []);
    for (const wanted of ["input", "subquery"]) {
      for (const [source, target, kind] of this.edges) {
        if (kind !== wanted) continue;
        this.inputs[target].push(source);
        this.users[source].push(target);
      }
    }
  }

  /** @type {Map<number, Column[]>} */
  #passed = new Map();

  /**
   * By port or by node: what is made of a column, which nodes pass on all columns of one, on which nodes a column
   * decides, which nodes have their records from one, and of which nodes every column may be made of a column.
   * @type {{ made: Map<string, number[][]>, passing: Map<number, number[]>, deciding: Map<string, number[]>,
   *   feeding: Map<number, number[]>, spread: Map<string, number[]> } | null}
   */
  #used = null;

  /** The columns of a node. @param {number} node @returns {Column[]} */
  columns(node) {
    const told = this.nodes[node].columns;
    if (typeof told !== "number") return told;
    let found = this.#passed.get(node);
    if (!found) {
      found = this.columns(told).map(([label, type]) => [label, type]);
      this.#passed.set(node, found);
    }
    return found;
  }

  /** The columns of a node before emit. @param {number} node @returns {Column[]} */
  direct(node) {
    return this.nodes[node].direct ?? this.columns(node);
  }

  /** Where in the plan a node stands; null where that isn't known. @param {number} node @returns {string | null} */
  path(node) {
    const parts = [];
    for (let told = this.nodes[node].path; ; told = this.nodes[told[0]].path) {
      if (!told) return null;
      parts.push(told[1]);
      if (told[0] < 0) return parts.reverse().join("");
    }
  }

  /** What a node is called with the column, for people. @param {Port} port */
  columnName([node, column]) {
    return this.columns(node)[column]?.[0] ?? `$${column}`;
  }

  /** A column with the table or the relation that it comes from. @param {Port} port */
  fullName([node, column]) {
    const label = this.columnName([node, column]);
    const table = this.nodes[node].table ?? this.nodes[node].title;
    return label.startsWith(`${table}.`) ? label : `${table}.${label}`;
  }

  /**
   * The columns that a column is made of; with conditions, also those on which it depends by itself.
   * @param {Port} port
   * @param {boolean} conditions
   * @returns {Port[]}
   */
  origins([node, column], conditions) {
    const told = this.nodes[node];
    const found = [];
    if (told.from !== undefined) found.push([told.from, column]);
    for (const [source, position, condition] of told.every ?? told.origins?.[column] ?? []) {
      if (conditions || !condition) found.push([source, position]);
    }
    return /** @type {Port[]} */ (found);
  }

  /**
   * The columns that a column is part of.
   * @param {Port} port
   * @param {boolean} conditions
   * @returns {Port[]}
   */
  uses([node, column], conditions) {
    const { made, passing, spread } = (this.#used ??= this.#allUses());
    const found = [];
    for (const user of spread.get(`${node}:${column}`) ?? []) {
      this.columns(user).forEach((_, position) => found.push([user, position]));
    }
    for (const user of passing.get(node) ?? []) {
      if (column < this.columns(user).length) found.push([user, column]);
    }
    for (const [user, position, condition] of made.get(`${node}:${column}`) ?? []) {
      if (conditions || !condition) found.push([user, position]);
    }
    return /** @type {Port[]} */ (found);
  }

  #allUses() {
    const made = new Map(), passing = new Map(), deciding = new Map(), feeding = new Map(), spread = new Map();
    /** @param {Map<any, any[]>} map @param {any} key @param {any} value */
    const add = (map, key, value) => {
      const known = map.get(key);
      if (known) known.push(value);
      else map.set(key, [value]);
    };
    this.nodes.forEach((told, node) => {
      if (told.from !== undefined) add(passing, told.from, node);
      (told.origins ?? []).forEach((/** @type {number[][]} */ origins, /** @type {number} */ position) => {
        for (const [source, column, condition] of origins) {
          add(made, `${source}:${column}`, [node, position, condition ?? 0]);
        }
      });
      for (const [source, column] of told.every ?? []) add(spread, `${source}:${column}`, node);
      for (const [source, column] of told.conditions ?? []) add(deciding, `${source}:${column}`, node);
      for (const source of told.fed ?? []) add(feeding, source, node);
    });
    return { made, passing, deciding, feeding, spread };
  }

  /**
   * All that a column comes from, itself included, by `node:column`; with conditions, all that it depends on.
   * @param {Port} port
   * @param {boolean} conditions
   * @returns {Map<string, Port>}
   */
  upstream(port, conditions) {
    /** @type {Set<number>} the nodes of which it is known what decides on their records */
    const decided = new Set();
    return this.#closure(port, (each) => {
      const origins = this.origins(each, conditions);
      if (!conditions) return origins;
      for (const node of this.#over([each[0]], (one) => this.nodes[one].fed ?? [], decided)) {
        origins.push(...(this.nodes[node].conditions ?? []));
      }
      return origins;
    });
  }

  /** Some nodes, and those whose records their own come from. @param {Iterable<number>} nodes @returns {Set<number>} */
  fedBy(nodes) {
    return new Set(this.#over(nodes, (node) => this.nodes[node].fed ?? []));
  }

  /**
   * All that comes from a column, itself included, by `node:column`; with conditions, all that depends on it.
   * @param {Port} port
   * @param {boolean} conditions
   * @returns {Map<string, Port>}
   */
  downstream(port, conditions) {
    const { deciding, feeding } = (this.#used ??= this.#allUses());
    /** @type {Set<number>} the nodes of which it is known that it decides on their records */
    const decided = new Set();
    return this.#closure(port, (each) => {
      const uses = this.uses(each, conditions);
      if (!conditions) return uses;
      for (const node of this.#over(deciding.get(each.join(":")) ?? [], (one) => feeding.get(one) ?? [], decided)) {
        this.columns(node).forEach((_, position) => uses.push([node, position]));
      }
      return uses;
    });
  }

  /** @param {Port} port @param {(port: Port) => Port[]} next @returns {Map<string, Port>} */
  #closure(port, next) {
    const found = new Map([[port.join(":"), port]]), pending = [port];
    for (let each = pending.pop(); each; each = pending.pop()) {
      for (const other of next(each)) {
        const key = other.join(":");
        if (found.has(key)) continue;
        found.set(key, other);
        pending.push(other);
      }
    }
    return found;
  }

  /**
   * Some nodes and all that follows from them, without those that are known already.
   * @param {Iterable<number>} nodes
   * @param {(node: number) => number[]} next
   * @param {Set<number>} [known] those that are found go in here too
   * @returns {number[]}
   */
  #over(nodes, next, known = new Set()) {
    const found = [], pending = [...nodes];
    for (let each = pending.pop(); each !== undefined; each = pending.pop()) {
      if (known.has(each)) continue;
      known.add(each);
      found.push(each);
      pending.push(...next(each));
    }
    return found;
  }

  /**
   * The nodes that are seen when the inputs of some aren't: what a visible node uses is visible.
   * @param {ReadonlySet<number>} collapsed
   * @returns {Set<number>}
   */
  visible(collapsed) {
    const results = [...this.nodes.keys()].filter((node) => this.users[node].length === 0);
    return new Set(this.#over(results, (node) => (collapsed.has(node) ? [] : this.inputs[node])));
  }

  /** All that a node is made of, without itself. @param {number} node @returns {number[]} */
  below(node) {
    return this.#over(this.inputs[node], (each) => this.inputs[each]);
  }
}
