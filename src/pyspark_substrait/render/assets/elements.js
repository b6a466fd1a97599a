// Elements of the page. Text of a plan comes in here, as text and never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Where text runs from right to left; kept apart, so that it doesn't turn what stands around it. */
const RIGHT_TO_LEFT = new RegExp("L+(?:\\s+L+)*".replaceAll(
  "L", "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]",
), "gu");

/**
 * Puts a text into an element, in place of what is in it.
 * @param {Element} element
 * @param {string} text
 */
function say(element, text) {
  element.textContent = "";
  let done = 0;
  for (const found of text.matchAll(RIGHT_TO_LEFT)) {
    element.append(text.slice(done, found.index));
    const apart = document.createElement("bdi");
    apart.textContent = found[0];
    element.append(apart);
    done = found.index + found[0].length;
  }
  element.append(text.slice(done));
}

/**
 * A new element of HTML.
 * @param {string} tag
 * @param {string} kind its classes
 * @param {string | Array<Element | string | null>} content a text, or what stands in it
 * @returns {HTMLElement}
 */
function make(tag, kind = "", content = "") {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  if (typeof content === "string") say(element, content);
  else element.append(...content.filter((part) => part !== null));
  return element;
}

/**
 * A new button.
 * @param {string} kind its classes
 * @param {string} text what stands on it
 * @param {() => void} pressed what it does
 * @param {string} label what it is called, where the text doesn't say it
 * @returns {HTMLButtonElement}
 */
function button(kind, text, pressed, label = "") {
  const element = /** @type {HTMLButtonElement} */ (make("button", kind, text));
  element.type = "button";
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("click", pressed);
  return element;
}

/**
 * A new element of SVG.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
function draw(tag, attributes = {}) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** So many things, as a text. @param {number} number @param {string} noun */
function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Whether things should jump rather than glide. */
function still() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
