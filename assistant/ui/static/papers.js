// The reading list, which this browser keeps: each paper under a key of its own, so that several tabs stay in step.
// And the papers that are chosen in the table, on whichever page of it.
(() => {
  const KEY = "reading:";
  const chosen = new Set();
  const removed = new Map();
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const put = (element, name, value) => element[name] === value || (element[name] = value);

  function keptOf(id) {
    try {
      return JSON.parse(localStorage[KEY + id] ?? "null");
    } catch {
      return null;
    }
  }
  function keep(id, item) {
    localStorage[KEY + id] = JSON.stringify(item);
  }
  const ids = () => Object.keys(localStorage).filter((key) => key.startsWith(KEY)).map((key) => key.slice(KEY.length));
  const listed = () => JSON.stringify(Object.fromEntries(ids().map((id) => [id, keptOf(id)]).filter(([, item]) => item)));

  // A star that is taken away and set again brings its note back.
  function toggle(star) {
    const { star: id, label } = star.dataset;
    const before = keptOf(id);
    if (before) {
      removed.set(id, before);
      localStorage.removeItem(KEY + id);
    } else keep(id, removed.get(id) ?? { note: "", at: Date.now(), label });
    fill();
  }

  function fill() {
    for (const star of all(".star[data-star]")) {
      const on = keptOf(star.dataset.star) !== null;
      put(star, "textContent", on ? "★" : "☆");
      put(star, "ariaPressed", String(on));
    }
    for (const note of all("textarea[data-note]")) {
      if (note !== document.activeElement) put(note, "value", (keptOf(note.dataset.note) ?? removed.get(note.dataset.note))?.note ?? "");
    }
    const count = ids().length;
    for (const element of all(".kept-count")) put(element, "textContent", count ? ` (${count})` : "");
    fillChosen();
  }

  function fillChosen() {
    const boxes = all("input[data-choose]");
    for (const box of boxes) box.checked = chosen.has(box.dataset.choose);
    const some = boxes.some((box) => box.checked);
    for (const box of all("input[data-choose-all]")) {
      box.checked = some && boxes.every((each) => each.checked);
      box.indeterminate = some && !box.checked;
    }
    const bar = one(".selection");
    if (!bar) return;
    put(bar, "hidden", !chosen.size);
    put(bar.querySelector("span"), "textContent", chosen.size ? `${chosen.size} chosen` : "");
  }

  function choose(id, on) {
    if (on) chosen.add(id);
    else chosen.delete(id);
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.(".star[data-star], [data-list], [data-chosen]");
    if (!target) return;
    const { star, list, chosen: wanted } = target.dataset;
    if (star !== undefined) toggle(target);
    else if (list === "reading") read();
    else if (list) window.assistant.act("save-reading", { form: list, list: listed() });
    else if (wanted === "ask") ask();
    else chosen.clear(), fillChosen();
    target.closest("details.menu")?.removeAttribute("open");
  });
  const read = () => window.assistant.act("reading", { list: listed() });
  function ask() {
    const named = chosen.size === 1 ? "1 chosen paper" : `${chosen.size} chosen papers`;
    window.assistant.act("scope", { paperIds: [...chosen].join(" "), named });
  }

  document.addEventListener("change", ({ target }) => {
    if (target.matches?.("input[data-choose]")) choose(target.dataset.choose, target.checked);
    else if (target.matches?.("input[data-choose-all]")) {
      for (const box of all("input[data-choose]")) choose(box.dataset.choose, target.checked);
    } else return;
    fillChosen();
  });
  document.addEventListener("input", ({ target }) => {
    const id = target.dataset?.note;
    const item = id && (keptOf(id) ?? removed.get(id));
    if (!item) return;
    item.note = target.value;
    if (keptOf(id)) keep(id, item);
  });

  // What another tab of the browser changed.
  addEventListener("storage", ({ key }) => {
    if (key !== null && !key.startsWith(KEY)) return;
    fill();
    if (one("#papers-reading .reading") && !document.activeElement?.matches("textarea[data-note]")) read();
  });

  // A paper's page begins at its name, and closing it leads back to where it was opened.
  let open = "";
  function follow() {
    fill();
    const page = one("#papers-paper .paper-page");
    const now = page ? (page.dataset.paper ?? "none") : "";
    if (now === open) return;
    const before = open;
    open = now;
    const opener = all('#papers [data-act="paper"]').find((link) => link.dataset.paperId === before && link.offsetParent);
    (page ? page.querySelector("h2") : opener)?.focus();
    if (page) one("#papers").scrollTop = 0;
  }
  new MutationObserver(follow).observe(document.documentElement, { childList: true, subtree: true });
})();
