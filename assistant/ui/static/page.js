// What all tabs share: acts (see acts.py), formulas, saving files, tables that sort, the reading list's stars.
(() => {
  const KATEX = "/page/katex/katex.min";
  const act = (name, detail = {}) => document.dispatchEvent(new CustomEvent(`act:${name}`, { detail }));
  const here = {
    copy: (button) => copied(button, button.dataset.text),
    link: (button) => copied(button, `${location.origin}${location.pathname}?q=${encodeURIComponent(button.dataset.question)}`),
    sort: (heading) => sort(heading),
  };

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-act]");
    if (!target || target.matches("form")) return;
    const own = here[target.dataset.act];
    if (own) own(target);
    else act(target.dataset.act, { ...target.dataset });
    target.closest("details.menu")?.removeAttribute("open");
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-act]");
    if (!form) return;
    event.preventDefault();
    act(form.dataset.act, { ...form.dataset, ...Object.fromEntries(new FormData(form)) });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    const heading = event.target.closest?.('th[data-act="sort"]');
    if (heading && (event.key === "Enter" || event.key === " ")) event.preventDefault(), sort(heading);
  });
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!event.composedPath().includes(menu)) menu.open = false;
  });

  async function copied(button, text) {
    const said = button.textContent;
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = said), 2500);
  }

  // A table is drawn anew with each sentence of an answer below it, and sorted again as the reader had it.
  const sortedBy = new Map();
  const known = (table) => [...table.rows].map((row) => row.textContent).sort().join();

  function sort(heading) {
    const descending = heading.getAttribute("aria-sort") === "ascending";
    const table = heading.closest("table");
    sortedBy.set(known(table), { column: heading.cellIndex, descending });
    arrange(table, heading.cellIndex, descending);
  }
  function arrange(table, column, descending) {
    for (const heading of table.tHead.rows[0].cells)
      heading.setAttribute("aria-sort", heading.cellIndex !== column ? "none" : descending ? "descending" : "ascending");
    const text = (row) => row.cells[column].textContent.trim();
    const order = new Intl.Collator(undefined, { numeric: true }).compare;
    const rows = [...table.tBodies[0].rows].sort((a, b) => order(text(a), text(b)));
    table.tBodies[0].append(...(descending ? rows.reverse() : rows));
  }
  function arrangeAgain() {
    if (!sortedBy.size) return;
    for (const table of document.querySelectorAll('table:has(th[data-act="sort"]):not(:has(th:not([aria-sort="none"])))')) {
      const as = sortedBy.get(known(table));
      if (as) arrange(table, as.column, as.descending);
    }
  }

  let katex;
  function drawFormulas() {
    const formulas = document.querySelectorAll(".math:not([data-drawn])");
    if (!formulas.length) return;
    if (!window.katex) return void (katex ??= loadKatex().then(drawFormulas));
    for (const element of formulas) {
      element.dataset.drawn = "";
      const fallback = element.textContent;
      try {
        window.katex.render(element.dataset.tex, element, { trust: false, strict: "ignore", maxSize: 8, maxExpand: 100 });
      } catch {
        element.textContent = fallback;
      }
    }
  }
  function loadKatex() {
    const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${KATEX}.css` });
    const script = Object.assign(document.createElement("script"), { src: `${KATEX}.js` });
    document.head.append(style, script);
    return new Promise((resolve) => (script.onload = resolve));
  }
  new MutationObserver(() => (arrangeAgain(), drawFormulas())).observe(document.documentElement, {
    childList: true,
    subtree: true,
  });

  function save(text) {
    if (!text) return;
    const file = JSON.parse(text);
    const url = URL.createObjectURL(new Blob([file.text], { type: file.type }));
    Object.assign(document.createElement("a"), { href: url, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  window.assistant = { act, save };
})();
