// Which part of a drawing is seen, and how large.

const SMALLEST = 0.04;
const LARGEST = 3;
const LARGEST_WHOLE = 1.25;
const MARGIN = 24;

class Viewport {
  /**
   * @param {HTMLElement} frame what the drawing is seen through
   * @param {HTMLElement} stage what holds the drawing, at its full size
   * @param {{ moved: () => void, zoomed: (x: number, y: number) => void }} told what is called after every change, and
   *   after somebody has zoomed at a place of the frame
   */
  constructor(frame, stage, told) {
    this.frame = frame;
    this.stage = stage;
    this.told = told;
    /** Where the left upper corner of the drawing is, in pixels of the frame. */
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    /** @type {{ width: number, height: number }} the size of the drawing */
    this.size = { width: 1, height: 1 };
    this.#listen();
  }

  #settling = 0;

  /** @type {{ x: number, y: number, scale: number } | null} how it stood when all was shown */
  #fitted = null;

  /** How much of the frame's edges is left free when all is shown: top, right, bottom, left. */
  free = [MARGIN, MARGIN, MARGIN, MARGIN];

  /** @param {boolean} gliding whether it may take a moment, so that people can follow */
  #apply(gliding = false) {
    const moving = gliding && !still();
    this.stage.classList.toggle("gliding", moving);
    this.stage.classList.add("moving");
    clearTimeout(this.#settling);
    // a moving stage is an image; at rest it is drawn anew, at its scale
    this.#settling = setTimeout(() => this.stage.classList.remove("moving", "gliding"), 300);
    this.stage.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    this.told.moved();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    const { width, height } = this.frame.getBoundingClientRect();
    // some of the drawing stays in sight
    const rest = 60;
    this.x = Math.min(Math.max(this.x + dx, rest - this.size.width * this.scale), width - rest);
    this.y = Math.min(Math.max(this.y + dy, rest - this.size.height * this.scale), height - rest);
    this.#apply();
  }

  /**
   * @param {number} factor
   * @param {number} [x] what stays where it is, in pixels of the frame; its middle when not given
   * @param {number} [y]
   */
  zoom(factor, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2) {
    const scale = Math.min(Math.max(this.scale * factor, SMALLEST), LARGEST);
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.#apply();
    this.told.zoomed(x, y);
  }

  /**
   * Shows all of the drawing.
   * @param {boolean} [gliding]
   * @param {number} [scale] another one than as large as it goes
   * @param {number} [aside] how far it is from the middle, to the right
   */
  fit(gliding = false, scale = this.whole(this.size), aside = 0) {
    const { clientWidth: width, clientHeight: height } = this.frame, [top, right, bottom, left] = this.free;
    this.scale = scale;
    this.x = left + (width - left - right - this.size.width * scale) / 2 + aside;
    this.y = top + (height - top - bottom - this.size.height * scale) / 2;
    this.#fitted = { x: this.x, y: this.y, scale };
    this.#apply(gliding);
  }

  /** Whether all is shown, as nobody has moved it since. */
  get untouched() {
    const was = this.#fitted;
    return was !== null && was.x === this.x && was.y === this.y && was.scale === this.scale;
  }

  /** The scale at which all of something is seen. @param {{ width: number, height: number }} size */
  whole({ width, height }) {
    const [top, right, bottom, left] = this.free;
    const across = (this.frame.clientWidth - left - right) / width, down = (this.frame.clientHeight - top - bottom) / height;
    return Math.max(Math.min(across, down, LARGEST_WHOLE), SMALLEST);
  }

  /**
   * Puts a place of the drawing to a place of the frame, at a scale.
   * @param {{ x: number, y: number }} place
   * @param {number} x
   * @param {number} y
   * @param {number} scale
   */
  put(place, x, y, scale) {
    this.scale = Math.min(Math.max(scale, SMALLEST), LARGEST);
    this.x = x - place.x * this.scale;
    this.y = y - place.y * this.scale;
    this.pan(0, 0);
  }

  /**
   * Moves as little as it takes to see a box of the drawing; to the middle, when it was out of sight.
   * @param {Box} box
   * @param {number} [least] the smallest scale to see it at
   */
  reveal(box, least = 0) {
    const { clientWidth: width, clientHeight: height } = this.frame;
    const scale = Math.max(this.scale, least);
    const left = this.x + box.x * this.scale, top = this.y + box.y * this.scale;
    const seen =
      scale === this.scale && left >= 8 && top >= 8 &&
      left + Math.min(box.width * scale, width - 16) <= width - 8 &&
      top + Math.min(box.height * scale, height - 16) <= height - 8;
    if (seen) return;
    this.scale = scale;
    this.x = width / 2 - (box.x + box.width / 2) * scale;
    this.y = height / 2 - (box.y + Math.min(box.height / 2, height / 2 / scale - 40)) * scale;
    this.#apply(true);
  }

  /** The part of the drawing that is seen. @returns {Box} */
  seen() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    return {
      x: -this.x / this.scale,
      y: -this.y / this.scale,
      width: width / this.scale,
      height: height / this.scale,
    };
  }

  #listen() {
    const frame = this.frame;
    /** @type {Map<number, { x: number, y: number }>} the fingers, or the mouse, that are down */
    const down = new Map();
    let dragged = false;
    frame.addEventListener("wheel", (event) => {
      if (/** @type {Element} */ (event.target).closest(".over")) return;
      event.preventDefault();
      const { left, top } = frame.getBoundingClientRect();
      const unit = event.deltaMode === 1 ? 20 : event.deltaMode === 2 ? 200 : 1;
      if (event.shiftKey) return this.pan(-(event.deltaX || event.deltaY) * unit, 0);
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      this.zoom(Math.exp(-event.deltaY * unit * speed), event.clientX - left, event.clientY - top);
    }, { passive: false });
    frame.addEventListener("pointerdown", (event) => {
      if (event.button > 0 || /** @type {Element} */ (event.target).closest(".over")) return;
      if (!down.size) dragged = false;
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    frame.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return;
      const now = { x: event.clientX, y: event.clientY };
      if (!dragged && down.size === 1 && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
      if (!dragged) frame.classList.add("dragged");
      dragged = true;
      frame.setPointerCapture(event.pointerId);
      if (down.size === 2) this.#pinch([...down].find(([id]) => id !== event.pointerId)?.[1], before, now);
      else this.pan(now.x - before.x, now.y - before.y);
      down.set(event.pointerId, now);
    });
    const up = (/** @type {PointerEvent} */ event) => {
      down.delete(event.pointerId);
      frame.classList.toggle("dragged", dragged && down.size > 0);
    };
    frame.addEventListener("pointerup", up);
    frame.addEventListener("pointercancel", up);
    // what ends a drag is no click
    frame.addEventListener("click", (event) => {
      if (!dragged) return;
      dragged = false;
      event.stopPropagation();
    }, { capture: true });
  }

  /** @param {{ x: number, y: number } | undefined} other @param {{ x: number, y: number }} before @param {{ x: number, y: number }} now */
  #pinch(other, before, now) {
    if (!other) return;
    const { left, top } = this.frame.getBoundingClientRect();
    const was = Math.hypot(before.x - other.x, before.y - other.y), is = Math.hypot(now.x - other.x, now.y - other.y);
    this.x += (now.x - before.x) / 2;
    this.y += (now.y - before.y) / 2;
    if (was > 0) this.zoom(is / was, (now.x + other.x) / 2 - left, (now.y + other.y) / 2 - top);
  }
}
