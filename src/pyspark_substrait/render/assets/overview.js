// What a drawing looks like at a scale: cards with all that they say, or, far away, an icon and a name for each node.

/**
 * Where everything of a drawing is.
 * @typedef {{ name: string, down: boolean, font: number, size: { width: number, height: number }, places: Map<number, Box>,
 *   ways: string[], frames: Box[], text?: number, texts?: string[][] }} Shape
 *   the direction of the records, the size of the font of names, the box of each node, the way of each edge, the box of
 *   each frame; of an overview also where texts begin, and the name and the second line of each node
 */

/** The smallest names that people read without effort, in pixels; and the smallest that they can read at all. */
const READABLE = 9;
const LEGIBLE = 6;

/** The same of names that stand beside smaller letters: a second line, or all the text of a card. */
const READABLE_WITH_NOTES = 11;
const READABLE_WITH_DETAILS = 9.5;

/** The shape of the drawing as it comes: cards with all that they say. @param {SVGSVGElement} svg @returns {Shape} */
function detailsOf(svg) {
  const { width, height } = svg.viewBox.baseVal, places = new Map();
  for (const card of /** @type {NodeListOf<SVGGElement>} */ (svg.querySelectorAll("g.node"))) {
    const { node, x, y, w, h } = card.dataset;
    places.set(Number(node), { x: Number(x), y: Number(y), width: Number(w), height: Number(h) });
  }
  const ways = [...svg.querySelectorAll("g.edge > path.line")].map((path) => path.getAttribute("d") ?? "");
  const frames = [...svg.querySelectorAll("g.group > rect")].map((rect) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
    return { x, y, width, height };
  });
  return { name: "details", down: false, font: 13, size: { width, height }, places, ways, frames };
}

/** @param {any} told an overview in the data of the page @returns {Shape} */
function overviewOf(told) {
  const box = (/** @type {number[]} */ [x, y, width, height]) => ({ x, y, width, height });
  const [width, height] = told.size;
  return {
    ...told, size: { width, height }, down: told.name.endsWith("down"), frames: told.frames.map(box),
    places: new Map(told.places.map((/** @type {number[]} */ place, /** @type {number} */ node) => [node, box(place)])),
  };
}

/** How large a name is when all of a shape is shown in so much room. @param {Shape} shape @param {Viewport} viewport */
function nameSize(shape, viewport) {
  return viewport.whole(shape.size) * shape.font;
}

/**
 * The shape that shows a whole plan best: the one that says most of those whose names can be read, or else the one with
 * the largest names. Several viewports that shall have the same one are asked together.
 * @param {Shape[][]} shapes of each viewport, in the same order
 * @param {Viewport[]} viewports
 * @returns {number} its position
 */
function bestShape(shapes, viewports) {
  const sizes = shapes[0].map((_, at) => Math.min(...viewports.map((viewport, each) => nameSize(shapes[each][at], viewport))));
  const least = (/** @type {Shape} */ { name }) =>
    name === "details" ? READABLE_WITH_DETAILS : name.startsWith("notes") ? READABLE_WITH_NOTES : READABLE;
  const readable = sizes.findIndex((size, at) => size >= least(shapes[0][at]));
  return readable >= 0 ? readable : sizes.indexOf(Math.max(...sizes));
}

/** The cards of a board as an overview shows them. */
class Briefs {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
  }

  /** @type {Shape | null} */
  #drawn = null;

  /** Draws what an overview shows of each card. @param {Shape} shape */
  draw(shape) {
    if (this.#drawn === shape) return;
    this.#drawn = shape;
    /** @type {Array<[SVGTextContentElement, number]>} */
    const texts = [];
    for (const [node, card] of this.board.cards) {
      card.querySelector("g.brief")?.remove();
      card.append(this.#brief(shape, node, card, texts));
    }
    // fonts differ: what is too long for its box is condensed
    const long = texts.filter(([text, room]) => text.getComputedTextLength() > room);
    for (const [text, room] of long) {
      text.setAttribute("textLength", String(room));
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }

  /** @param {Shape} shape @param {number} node @param {SVGGElement} card @param {Array<[any, number]>} texts */
  #brief(shape, node, card, texts) {
    const { width, height } = /** @type {Box} */ (shape.places.get(node)), [name, note] = shape.texts?.[node] ?? [""];
    const from = shape.text ?? 0, edge = height > 30 ? 6 : height > 20 ? 3 : 1, side = height - 2 * edge;
    const brief = draw("g", { class: height > 20 ? "brief" : "brief dense" });
    brief.append(draw("rect", { class: "card", width, height, rx: height / 5 }));
    brief.append(draw("rect", { class: "tint", x: edge, y: edge, width: side, height: side, rx: side / 4 }));
    const symbol = card.querySelector("path.symbol")?.parentElement?.cloneNode(true), scale = (side / 22).toFixed(2);
    if (symbol) {
      /** @type {Element} */ (symbol).setAttribute("transform", `translate(${height / 2},${height / 2}) scale(${scale}) translate(-8,-8)`);
      brief.append(symbol);
    }
    const add = (/** @type {string} */ kind, /** @type {number} */ y, /** @type {string} */ said) => {
      const text = draw("text", { class: kind, x: from, y });
      text.textContent = said.replace(RIGHT_TO_LEFT, "\u2068$&\u2069");
      brief.append(text);
      texts.push([text, width - from - 4]);
    };
    add("brief-name", note ? height / 2 - 3 : height / 2 + shape.font * 0.36, name);
    if (note) add("brief-note", height / 2 + 11, note);
    const percent = card.querySelector("text.percent")?.textContent;
    if (percent) {
      const share = percent.startsWith("<") ? 0.5 : parseFloat(percent);
      brief.append(draw("rect", { class: "share", x: 3, y: height - 3, height: 2, rx: 1, width: Math.max(((width - 6) * share) / 100, 2) }));
    }
    const grave = ["error", "warning"].find((level) => card.querySelector(`g.badge.${level}`));
    if (grave) brief.append(draw("circle", { class: `spot ${grave}`, cx: width - 2, cy: 2, r: height > 20 ? 4.5 : 3.5 }));
    return brief;
  }
}
