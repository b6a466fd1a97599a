// Search where the site is opened as files: a browser starts no worker there, so the worker's script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.url = String(url);
      this.inside = new Promise((ready) => {
        const frame = document.createElement("iframe");
        frame.hidden = true;
        frame.title = "search";
        frame.srcdoc = "<!doctype html>";
        frame.addEventListener("load", () => this.start(frame.contentWindow, ready), { once: true });
        document.body.append(frame);
      });
    }

    start(inside, ready) {
      inside.postMessage = (data) => setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      const script = inside.document.createElement("script");
      script.src = this.url;
      script.addEventListener("load", () => ready(inside), { once: true });
      inside.document.body.append(script);
    }

    async postMessage(data) {
      const inside = await this.inside;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
