// Which part of a drawing is seen, and how large.

/** Text can be read at this scale; down to the other one, seeing all of a plan is worth more. */
const READABLE = 0.75;
const SMALL = 0.5;
const SMALLEST = 0.04;
const LARGEST = 3;
const MARGIN = 24;

class Viewport {
  /**
   * @param {HTMLElement} frame what the drawing is seen through
   * @param {HTMLElement} stage what holds the drawing, at its full size
   * @param {() => void} moved called after every change
   */
  constructor(frame, stage, moved) {
    this.frame = frame;
    this.stage = stage;
    this.moved = moved;
    /** Where the left upper corner of the drawing is, in pixels of the frame. */
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    /** @type {{ width: number, height: number }} the size of the drawing */
    this.size = { width: 1, height: 1 };
    this.#listen();
  }

  #settling = 0;

  /** @type {{ place: Box | null, x: number, y: number, scale: number } | null} how it stood when it was opened */
  #opened = null;

  /** @param {boolean} gliding whether it may take a moment, so that people can follow */
  #apply(gliding = false) {
    const moving = gliding && !still();
    this.stage.classList.toggle("gliding", moving);
    this.stage.classList.add("moving");
    clearTimeout(this.#settling);
    // a moving stage is an image; at rest it is drawn anew, at its scale
    this.#settling = setTimeout(() => this.stage.classList.remove("moving", "gliding"), 300);
    this.stage.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    this.moved();
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
  }

  /** Shows all of the drawing. */
  fit() {
    this.#fitted(this.#whole(), { x: 0, y: 0, ...this.size });
    this.#apply(true);
  }

  /**
   * Shows all of the drawing where that can be read, else the part of it around a place.
   * @param {Box | null} place
   */
  open(place) {
    const whole = this.#whole();
    if (whole >= SMALL || !place) {
      this.#fitted(Math.max(whole, SMALLEST), { x: 0, y: 0, ...this.size });
    } else {
      const { clientWidth: width, clientHeight: height } = this.frame;
      this.scale = READABLE;
      const right = this.size.width * READABLE <= width - 2 * MARGIN ? this.size.width : place.x + place.width;
      this.x = width - MARGIN - right * READABLE;
      this.y = height / 2 - (place.y + place.height / 2) * READABLE;
      if (this.size.height * READABLE <= height) this.y = (height - this.size.height * READABLE) / 2;
    }
    this.#opened = { place, x: this.x, y: this.y, scale: this.scale };
    this.#apply();
  }

  /** The frame has another size: what nobody has moved is opened anew. A page in a notebook may start without any. */
  resized() {
    const opened = this.#opened;
    const untouched = opened && opened.x === this.x && opened.y === this.y && opened.scale === this.scale;
    if (untouched) this.open(opened.place);
    else this.pan(0, 0);
  }

  #whole() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    return Math.min((width - 2 * MARGIN) / this.size.width, (height - 2 * MARGIN) / this.size.height, 1.1);
  }

  /** @param {number} scale @param {Box} box */
  #fitted(scale, box) {
    this.scale = Math.max(scale, SMALLEST);
    this.x = (this.frame.clientWidth - box.width * this.scale) / 2 - box.x * this.scale;
    this.y = (this.frame.clientHeight - box.height * this.scale) / 2 - box.y * this.scale;
  }

  /**
   * Moves as little as it takes to see a box of the drawing; to the middle, when it was out of sight.
   * @param {Box} box
   * @param {boolean} [readable] whether to zoom in until its text can be read
   */
  reveal(box, readable = false) {
    const { clientWidth: width, clientHeight: height } = this.frame;
    const scale = readable && this.scale < READABLE ? READABLE : this.scale;
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
