// A small image of the whole drawing, with what is seen of it.

class Minimap {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    this.canvas = /** @type {HTMLCanvasElement} */ (make("canvas"));
    this.seen = make("div", "minimap-seen");
    this.element = make("div", "minimap over", [this.canvas, this.seen]);
    this.element.setAttribute("aria-hidden", "true");
    board.frame.append(this.element);
    const go = (/** @type {PointerEvent} */ event) => {
      if (!(event.buttons & 1)) return;
      const { left, top } = this.canvas.getBoundingClientRect(), part = this.board.viewport.seen();
      this.board.viewport.pan(
        -((event.clientX - left) / this.scale - part.x - part.width / 2) * this.board.viewport.scale,
        -((event.clientY - top) / this.scale - part.y - part.height / 2) * this.board.viewport.scale,
      );
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    this.canvas.addEventListener("pointermove", go);
    this.draw();
  }

  scale = 1;

  draw() {
    const { width, height } = this.board.viewport.size, small = innerWidth <= 768 || innerHeight <= 480;
    this.scale = Math.min((small ? 96 : 180) / width, (small ? 72 : 110) / height);
    const sharp = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.ceil(width * this.scale * sharp);
    this.canvas.height = Math.ceil(height * this.scale * sharp);
    this.canvas.style.width = `${width * this.scale}px`;
    this.canvas.style.height = `${height * this.scale}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const colours = getComputedStyle(this.board.svg), marked = this.board.svg.classList.contains("compared");
    for (const [node, box] of this.board.boxes) {
      if (!this.board.folding.visible.has(node)) continue;
      const [x, y, w, h] = [box.x, box.y, box.width, box.height].map((value) => value * this.scale * sharp);
      const kinds = [.../** @type {SVGGElement} */ (this.board.cards.get(node)).classList];
      const mark = kinds.find((kind) => /^m-(added|removed|changed)$/.test(kind)) ?? kinds.find((kind) => kind.startsWith("k-"));
      const colour = marked && !mark?.startsWith("m-") ? "edge" : mark?.slice(2);
      context.fillStyle = colours.getPropertyValue(`--pg-${colour}`) || colours.getPropertyValue("--pg-edge");
      context.fillRect(x, y, Math.max(w, 1.5), Math.max(h, 1.5));
    }
    this.moved();
  }

  /** Puts it where it hides the least: into the first corner without cards and tools. */
  settle() {
    const corners = ["bottom-right", "top-right", "top-left"], frame = this.board.frame;
    const hidden = corners.map((corner) => {
      frame.dataset.map = corner;
      const { bottom, left } = this.element.getBoundingClientRect(), tools = this.board.tools.getBoundingClientRect();
      return this.board.covers(this.element) + (bottom > tools.top && left < tools.right ? this.board.cards.size : 0);
    });
    const least = hidden.indexOf(Math.min(...hidden));
    frame.dataset.map = corners[least];
    return hidden[least];
  }

  moved() {
    const { x, y, width, height } = this.board.viewport.seen(), { size } = this.board.viewport;
    const left = Math.min(Math.max(x, 0), size.width), top = Math.min(Math.max(y, 0), size.height);
    const style = this.seen.style;
    style.left = `${this.canvas.offsetLeft + left * this.scale}px`;
    style.top = `${this.canvas.offsetTop + top * this.scale}px`;
    style.width = `${Math.max((Math.min(x + width, size.width) - left) * this.scale, 4)}px`;
    style.height = `${Math.max((Math.min(y + height, size.height) - top) * this.scale, 4)}px`;
  }
}
