(() => {
  const REACH = 14; // pixels from a paper at which it is meant
  const FARTHEST = 40; // times as large as the whole
  const NAMED_AT_ONCE = 70; // papers in view, up to which they are labelled
  const LONGEST_LABEL = 30;
  const SQUARES_FROM = 3000; // papers in view that are squares while they move: half the time of circles without a graphics card
  const NARROW = 600;
  const EDGE = 46;
  const FEW_OLD = 0.05; // share of the papers whose years all have the first colour
  const MANY_TOPICS = 10; // from which on the map has the first term of a name only
  const SHIFTS = [[0, 0], [0, -0.7], [0, 0.7], [0, -1.3], [0, 1.3], [-0.4, 0], [0.4, 0], [-0.4, -0.8], [0.4, -0.8], [-0.4, 0.8], [0.4, 0.8]];
  const HUES = [0, 1, 2, 3, 4, 5, 6, 7];
  const RAMP = [0, 1, 2, 3, 4];
  const kept = { colouring: "topic", of: "", view: null }; // what a reader chose, when the page is drawn anew

  const made = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    if (tag === "button") element.type = "button";
    return element;
  };
  const counted = (number) => `${number.toLocaleString("en")} paper${number === 1 ? "" : "s"}`;
  const cut = (text) => (text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1).trimEnd()}…` : text);
  const boxOf = ({ px, py, cited }, radius, around = radius + (cited ? 4 : 0)) => ({ x: px - around, y: py - around, w: 2 * around, h: 2 * around });
  const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

  function askButton(topic, papers) {
    const button = made("button", "ask", "Ask about these");
    button.dataset.act = "scope";
    button.dataset.paperIds = papers.map((paper) => paper.id).join(" ");
    button.dataset.named = topic.name;
    button.setAttribute("aria-label", `Ask about these: ${topic.name}`);
    return button;
  }

  class PaperAtlas extends HTMLElement {
    connectedCallback() {
      if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => this.start(), { once: true });
      else this.start();
    }

    disconnectedCallback() {
      this.resized?.disconnect();
      this.themed?.disconnect();
    }

    start() {
      const source = this.querySelector("script[type='application/json']");
      if (!source || !this.isConnected || this.canvas) return;
      this.read(JSON.parse(source.textContent));
      this.build();
      this.listen();
      this.fillLists();
    }

    read({ topics, papers, highlighted }) {
      const cited = new Set(highlighted);
      this.topics = topics;
      this.papers = papers.map(([x, y, topic, id, year, label, title, place]) => ({ x, y: 1 - y, topic, id, year, label, title, place, cited: cited.has(id) }));
      this.cited = this.papers.filter((paper) => paper.cited);
      const years = this.papers.map((paper) => paper.year).filter(Boolean).sort((a, b) => a - b);
      this.lastYear = years.at(-1);
      this.firstYear = years[Math.floor(years.length * FEW_OLD)];
      if (this.firstYear === this.lastYear) this.firstYear = years[0];
      this.hasEarlier = years[0] < this.firstYear;
      this.chosen = null;
      this.hovered = null;
      const of = `${papers.length} ${papers[0]?.[3]} ${papers.at(-1)?.[3]}`;
      if (kept.of !== of) Object.assign(kept, { of, view: { scale: 1, x: 0.5, y: 0.5 } });
      this.view = kept.view;
      this.colouring = this.lastYear > this.firstYear ? kept.colouring : "topic";
    }

    build() {
      const drawing = this.querySelector(".drawing");
      this.legend = made("div", "legend");
      const bar = made("div", "bar");
      if (this.lastYear > this.firstYear) bar.append(this.switch());
      bar.append(this.legend);

      this.canvas = made("canvas");
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", `Map of ${counted(this.papers.length)}; the list by topic below has the same papers`);
      this.tip = made("div", "tip");
      this.tip.hidden = true;
      this.names = this.topics.map((topic, at) => this.nameOf(topic, at));
      const stage = made("div", "stage");
      stage.append(this.canvas, ...this.names, this.zoomButtons(), this.tip);

      this.choice = made("div", "chosen");
      this.choice.setAttribute("role", "status");
      this.choice.hidden = true;
      drawing.replaceChildren(bar, stage, this.choice);
      this.readColours();
      this.drawLegend();
    }

    switch() {
      const group = made("div", "switch");
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", "Colour by");
      const buttons = ["topic", "year"].map((by) => {
        const button = made("button", "", by[0].toUpperCase() + by.slice(1));
        button.setAttribute("aria-pressed", String(by === this.colouring));
        button.addEventListener("click", () => {
          this.colouring = kept.colouring = by;
          for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
          this.drawLegend();
          this.draw();
        });
        return button;
      });
      const pill = made("span");
      pill.append(...buttons);
      group.append("Colour by", pill);
      return group;
    }

    nameOf(topic, at) {
      const button = made("button", "topic", topic.name);
      button.title = `${topic.name}: ${counted(topic.papers)}`;
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => this.choose(this.chosen === at ? null : at));
      return button;
    }

    zoomButtons() {
      const group = made("div", "zoom");
      for (const [sign, name, act] of [
        ["+", "Zoom in", () => this.zoom(1.6)],
        ["−", "Zoom out", () => this.zoom(1 / 1.6)],
        ["⤢", "Show all", () => this.moveTo(1, 0.5, 0.5)],
      ]) {
        const button = made("button", "", sign);
        button.title = name;
        button.setAttribute("aria-label", name);
        button.addEventListener("click", act);
        group.append(button);
      }
      return group;
    }

    drawLegend() {
      const parts = [];
      if (this.colouring === "year") {
        const years = made("span");
        years.append(`${this.hasEarlier ? "to " : ""}${this.firstYear}`, made("i", "ramp"), String(this.lastYear));
        parts.push(years);
        if (this.papers.some((paper) => !paper.year)) {
          const unknown = made("span");
          unknown.append(made("i", "dot"), "no year");
          parts.push(unknown);
        }
      } else if (this.topics.length > HUES.length) {
        parts.push(made("span", "", "Neighbouring topics differ in colour"));
      } else {
        for (const topic of this.topics) {
          const entry = made("span");
          entry.append(made("i", `dot hue-${topic.colour}`), topic.name);
          parts.push(entry);
        }
      }
      if (this.cited.length) {
        const cited = made("span");
        cited.append(made("i", "ring"), `in the last answer (${this.cited.length.toLocaleString("en")})`);
        parts.push(cited);
      }
      this.legend.replaceChildren(...parts);
    }

    choose(topic) {
      this.chosen = topic;
      this.names.forEach((name, at) => name.setAttribute("aria-pressed", String(at === topic)));
      this.choice.hidden = topic === null;
      if (topic !== null) {
        const all = made("button", "plain", "Show all topics");
        all.addEventListener("click", () => this.choose(null));
        const { name, papers } = this.topics[topic];
        this.choice.replaceChildren(made("b", "", name), counted(papers), askButton(this.topics[topic], this.of(topic)), all);
      }
      this.draw();
    }

    of(topic) {
      return this.papers.filter((paper) => paper.topic === topic);
    }

    fillLists() {
      for (const details of this.querySelectorAll("details[data-topic]")) {
        details.addEventListener("toggle", () => details.open && details.childElementCount === 1 && this.fill(details));
      }
    }

    fill(details) {
      const topic = Number(details.dataset.topic);
      const papers = this.of(topic).sort((a, b) => b.cited - a.cited || a.label.localeCompare(b.label, "en"));
      const list = made("ul");
      list.append(
        ...papers.map((paper) => {
          const button = made("button", paper.cited ? "cited" : "", paper.label);
          button.dataset.act = "paper";
          button.dataset.paperId = paper.id;
          button.append(made("small", "", paper.place));
          const item = made("li");
          item.append(button);
          return item;
        }),
      );
      details.append(askButton(this.topics[topic], papers), list);
    }

    readColours() {
      const style = getComputedStyle(this);
      const value = (name) => style.getPropertyValue(name).trim();
      this.hues = HUES.map((at) => value(`--hue-${at}`));
      this.ramp = RAMP.map((at) => value(`--year-${at}`).match(/\w\w/g).map((pair) => parseInt(pair, 16)));
      this.unknown = value("--unknown");
      this.ink = value("--ink");
      this.soft = value("--soft");
      this.sheet = value("--sheet");
      this.font = `500 11px ${style.fontFamily}`;
    }

    colourOf(paper) {
      if (this.colouring === "topic") return this.hues[this.topics[paper.topic].colour];
      if (!paper.year) return this.unknown;
      const late = Math.max(0, paper.year - this.firstYear) / (this.lastYear - this.firstYear);
      const at = late * (RAMP.length - 1);
      const [low, high] = [this.ramp[Math.floor(at)], this.ramp[Math.ceil(at)]];
      return `rgb(${low.map((part, i) => Math.round(part + (high[i] - part) * (at % 1))).join(" ")})`;
    }

    listen() {
      const { canvas } = this;
      this.resized = new ResizeObserver(() => this.draw());
      this.resized.observe(canvas);
      this.themed = new MutationObserver(() => {
        this.readColours();
        this.draw();
      });
      for (const element of [document.documentElement, document.body]) {
        this.themed.observe(element, { attributes: true, attributeFilter: ["class"] });
      }
      const held = new Map();
      let moved = 0;
      canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), event.offsetX, event.offsetY);
      }, { passive: false });
      canvas.addEventListener("pointerdown", (event) => {
        if (!held.size) moved = 0;
        held.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        const before = held.get(event.pointerId);
        if (!before) return this.hover(event.offsetX, event.offsetY);
        const now = { x: event.offsetX, y: event.offsetY };
        const [dx, dy] = [now.x - before.x, now.y - before.y];
        moved += Math.hypot(dx, dy);
        const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
        if (other) {
          const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
          this.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
        } else if (moved > 4) {
          canvas.classList.add("held");
          this.moveTo(this.view.scale, this.view.x - dx / this.unit.x, this.view.y - dy / this.unit.y);
        }
        held.set(event.pointerId, now);
      });
      const release = (event) => {
        held.delete(event.pointerId);
        canvas.classList.remove("held");
      };
      canvas.addEventListener("pointerup", release);
      canvas.addEventListener("pointercancel", release);
      canvas.addEventListener("pointerleave", () => this.hover(-1e4, -1e4));
      canvas.addEventListener("click", (event) => {
        if (moved > 4) return;
        const paper = this.nearest(event.offsetX, event.offsetY);
        if (paper) document.dispatchEvent(new CustomEvent("act:paper", { detail: { paperId: paper.id } }));
        else this.choose(null);
      });
    }

    get unit() {
      const { clientWidth: width, clientHeight: height } = this.canvas;
      return { x: Math.max(1, width - 2 * EDGE) * this.view.scale, y: Math.max(1, height - 2 * EDGE) * this.view.scale };
    }

    at({ x, y }) {
      const { x: unitX, y: unitY } = this.unit;
      return { x: (x - this.view.x) * unitX + this.canvas.clientWidth / 2, y: (y - this.view.y) * unitY + this.canvas.clientHeight / 2 };
    }

    zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
      const scale = Math.min(FARTHEST, Math.max(1, this.view.scale * factor));
      const [dx, dy] = [x - this.canvas.clientWidth / 2, y - this.canvas.clientHeight / 2];
      const { x: unitX, y: unitY } = this.unit;
      const grown = scale / this.view.scale;
      this.moveTo(scale, this.view.x + (dx - dx / grown) / unitX, this.view.y + (dy - dy / grown) / unitY);
    }

    moveTo(scale, x, y) {
      const room = 0.5 - 0.5 / scale;
      const within = (value) => Math.min(0.5 + room, Math.max(0.5 - room, value));
      Object.assign(this.view, { scale, x: within(x), y: within(y) });
      this.hover(-1e4, -1e4);
      clearTimeout(this.moving);
      this.moving = setTimeout(() => {
        this.moving = null;
        this.draw();
      }, 160);
      this.draw();
    }

    nearest(x, y) {
      let [found, least] = [null, REACH ** 2];
      for (const paper of this.papers) {
        const away = (paper.px - x) ** 2 + (paper.py - y) ** 2;
        if (away < least) [found, least] = [paper, away];
      }
      return found;
    }

    hover(x, y) {
      const paper = this.nearest(x, y);
      if (paper === this.hovered) return;
      this.hovered = paper;
      this.canvas.classList.toggle("over", !!paper);
      this.tip.hidden = !paper;
      if (paper) this.showTip(paper);
      this.draw();
    }

    showTip(paper) {
      const { tip, canvas } = this;
      const lines = [made("b", "", paper.label)];
      if (paper.title !== paper.label) lines.push(made("span", "title", paper.title));
      lines.push(made("span", "", [paper.place, this.topics[paper.topic].name].filter(Boolean).join(" · ")));
      tip.replaceChildren(...lines);
      const fits = (wanted, size, room) => Math.max(6, Math.min(wanted, room - size - 6));
      const below = paper.py + 16 + tip.offsetHeight < canvas.clientHeight;
      tip.style.left = `${fits(paper.px + 12, tip.offsetWidth, canvas.clientWidth)}px`;
      tip.style.top = `${below ? paper.py + 14 : Math.max(6, paper.py - 14 - tip.offsetHeight)}px`;
    }

    draw() {
      this.frame ??= requestAnimationFrame(() => {
        this.frame = null;
        if (this.isConnected && this.canvas.clientWidth) this.paint();
      });
    }

    paint() {
      const { canvas } = this;
      const sharp = devicePixelRatio || 1;
      const [width, height] = [canvas.clientWidth, canvas.clientHeight];
      if (canvas.width !== Math.round(width * sharp)) canvas.width = Math.round(width * sharp);
      if (canvas.height !== Math.round(height * sharp)) canvas.height = Math.round(height * sharp);
      const pen = canvas.getContext("2d");
      pen.setTransform(sharp, 0, 0, sharp, 0, 0);
      pen.clearRect(0, 0, width, height);
      canvas.classList.toggle("zoomed", this.view.scale > 1);
      const radius = Math.min(9, 15 * this.papers.length ** -0.2 * this.view.scale ** 0.35);
      const seen = this.seenPapers(width, height);
      this.paintPapers(pen, seen, radius);
      for (const paper of seen) if (paper.cited) this.paintRing(pen, paper, radius + 3, 2.5);
      if (this.hovered) this.paintRing(pen, this.hovered, radius + 1.5, 2);
      const few = seen.length <= NAMED_AT_ONCE;
      const taken = this.placeNames(width, height, (few ? seen : this.cited).map((paper) => boxOf(paper, radius)));
      if (few) this.paintLabels(pen, seen, radius, taken, width, height);
    }

    seenPapers(width, height) {
      const { x: unitX, y: unitY } = this.unit;
      const [left, top] = [width / 2 - this.view.x * unitX, height / 2 - this.view.y * unitY];
      const seen = [];
      for (const paper of this.papers) {
        paper.px = paper.x * unitX + left;
        paper.py = paper.y * unitY + top;
        if (paper.px > -9 && paper.py > -9 && paper.px < width + 9 && paper.py < height + 9) seen.push(paper);
      }
      return seen;
    }

    paintPapers(pen, seen, radius) {
      const asSquares = this.moving && seen.length > SQUARES_FROM;
      const groups = new Map();
      for (const paper of seen) {
        const faint = this.chosen !== null && paper.topic !== this.chosen && !paper.cited;
        const key = `${faint ? 0 : 1}${paper.cited ? 1 : 0}${this.colourOf(paper)}`;
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(paper);
      }
      for (const [key, papers] of [...groups].sort(([a], [b]) => a.slice(0, 2).localeCompare(b.slice(0, 2)))) {
        pen.fillStyle = key.slice(2);
        pen.globalAlpha = key[1] === "1" ? 1 : key[0] === "0" ? 0.12 : this.cited.length ? 0.6 : 0.8;
        if (asSquares) for (const { px, py } of papers) pen.fillRect(px - radius, py - radius, 2 * radius, 2 * radius);
        else this.fillCircles(pen, papers, radius);
      }
      pen.globalAlpha = 1;
    }

    fillCircles(pen, papers, radius) {
      pen.beginPath();
      for (const { px, py } of papers) {
        pen.moveTo(px + radius, py);
        pen.arc(px, py, radius, 0, 7);
      }
      pen.fill();
    }

    paintRing(pen, paper, radius, width) {
      for (const [colour, line] of [[this.sheet, width + 3], [this.ink, width]]) {
        pen.beginPath();
        pen.arc(paper.px, paper.py, radius, 0, 7);
        pen.strokeStyle = colour;
        pen.lineWidth = line;
        pen.stroke();
      }
      pen.beginPath();
      pen.arc(paper.px, paper.py, radius - 2.5, 0, 7);
      pen.fillStyle = this.colourOf(paper);
      pen.fill();
    }

    // The largest topic first, each where it lies or a little above or below, or not at all where there is no room.
    placeNames(width, height, papers) {
      const isCrowded = this.topics.length > MANY_TOPICS || width < NARROW;
      this.names.forEach((name, at) => (name.textContent = isCrowded ? this.topics[at].name.split(", ")[0] : this.topics[at].name));
      const sizes = this.names.map((name) => ((name.hidden = false), { w: name.offsetWidth, h: name.offsetHeight }));
      const zoom = this.querySelector(".zoom");
      const taken = [{ x: zoom.offsetLeft, y: zoom.offsetTop, w: zoom.offsetWidth, h: zoom.offsetHeight }];
      const order = this.topics.map((_, at) => at).sort((a, b) => (b === this.chosen) - (a === this.chosen) || this.topics[b].papers - this.topics[a].papers);
      for (const at of order) {
        const { w, h } = sizes[at];
        const middle = this.at({ x: this.topics[at].x, y: 1 - this.topics[at].y });
        const outside = middle.x < 0 || middle.y < 0 || middle.x > width || middle.y > height;
        const boxes = SHIFTS.map(([right, up]) => ({
          x: Math.max(4, Math.min(width - w - 4, middle.x - w / 2 + right * w)),
          y: Math.max(4, Math.min(height - h - 4, middle.y - h / 2 + up * h)),
          w,
          h,
        }));
        const free = outside ? [] : boxes.filter((one) => !taken.some((other) => overlap(one, other)));
        const covered = (one) => papers.filter((other) => overlap(one, other)).length;
        const box = free.sort((a, b) => covered(a) - covered(b))[0];
        this.names[at].hidden = !box;
        if (!box) continue;
        taken.push(box);
        this.names[at].style.left = `${box.x + w / 2}px`;
        this.names[at].style.top = `${box.y + h / 2}px`;
      }
      return taken;
    }

    paintLabels(pen, seen, radius, taken, width, height) {
      pen.font = this.font;
      pen.textBaseline = "middle";
      const boxes = [...taken, ...seen.map((paper) => boxOf(paper, radius))];
      for (const paper of [...seen].sort((a, b) => b.cited - a.cited)) {
        const text = cut(paper.label);
        const w = pen.measureText(text).width;
        const beside = radius + (paper.cited ? 9 : 5);
        const sides = [paper.px + beside, paper.px - beside - w].map((x) => ({ x, y: paper.py - 7, w, h: 14 }));
        const box = sides.find((one) => one.x > 2 && one.x + w < width - 2 && !boxes.some((other) => overlap(one, other)));
        if (!box) continue;
        boxes.push(box);
        pen.fillStyle = paper.cited ? this.ink : this.soft;
        pen.globalAlpha = this.chosen !== null && paper.topic !== this.chosen && !paper.cited ? 0.25 : 1;
        pen.fillText(text, box.x, paper.py);
      }
      pen.globalAlpha = 1;
    }
  }

  if (!customElements.get("paper-atlas")) customElements.define("paper-atlas", PaperAtlas);
})();
