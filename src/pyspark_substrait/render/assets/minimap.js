// A small image of the whole drawing, with what is seen of it.

class Minimap {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    this.canvas = /** @type {HTMLCanvasElement} */ (make("canvas", "minimap over"));
    this.canvas.setAttribute("aria-hidden", "true");
    board.frame.append(this.canvas);
    this.seen = make("div", "minimap-seen");
    board.frame.append(this.seen);
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
    const { width, height } = this.board.viewport.size;
    this.scale = Math.min(180 / width, 120 / height);
    const sharp = Math.min(devicePixelRatio || 1, 2);
    this.canvas.width = Math.ceil(width * this.scale * sharp);
    this.canvas.height = Math.ceil(height * this.scale * sharp);
    this.canvas.style.width = `${width * this.scale}px`;
    this.canvas.style.height = `${height * this.scale}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const plain = getComputedStyle(this.canvas).color, colours = getComputedStyle(this.board.svg);
    for (const [node, box] of this.board.boxes) {
      if (!this.board.folding.visible.has(node)) continue;
      const [x, y, w, h] = [box.x, box.y, box.width, box.height].map((value) => value * this.scale * sharp);
      const mark = ["added", "removed", "changed"].find((each) => this.board.cards.get(node)?.classList.contains(`m-${each}`));
      context.fillStyle = mark ? colours.getPropertyValue(`--pg-${mark}`) : plain;
      context.fillRect(x, y, Math.max(w, 1.5), Math.max(h, 1.5));
    }
    this.moved();
  }

  moved() {
    const { x, y, width, height } = this.board.viewport.seen(), { size } = this.board.viewport;
    const left = Math.max(x, 0), top = Math.max(y, 0);
    const style = this.seen.style;
    style.left = `${this.canvas.offsetLeft + left * this.scale}px`;
    style.top = `${this.canvas.offsetTop + top * this.scale}px`;
    style.width = `${Math.max(Math.min(x + width, size.width) - left, 4) * this.scale}px`;
    style.height = `${Math.max(Math.min(y + height, size.height) - top, 4) * this.scale}px`;
  }
}
