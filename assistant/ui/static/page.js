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

  function sort(heading) {
    const descending = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.children) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const [body] = heading.closest("table").tBodies;
    const text = (row) => row.cells[heading.cellIndex].textContent.trim();
    const order = new Intl.Collator(undefined, { numeric: true }).compare;
    const rows = [...body.rows].sort((a, b) => order(text(a), text(b)));
    body.append(...(descending ? rows.reverse() : rows));
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
  new MutationObserver(drawFormulas).observe(document.documentElement, { childList: true, subtree: true });

  function save(text) {
    if (!text) return;
    const file = JSON.parse(text);
    const url = URL.createObjectURL(new Blob([file.text], { type: file.type }));
    Object.assign(document.createElement("a"), { href: url, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  window.assistant = { act, save };
})();
