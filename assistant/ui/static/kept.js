// Conversations, which this browser keeps: each under a key of its own, its name under another.
(() => {
  const TEXT = "conversation:", NAME = "conversation-name:", TIME = "conversation-time:", OPEN = "open-conversation";
  const LONGEST_NAME = 60;
  const ids = () =>
    Object.keys(localStorage)
      .filter((key) => key.startsWith(TEXT))
      .map((key) => key.slice(TEXT.length))
      .sort((a, b) => Number(localStorage[TIME + b] ?? 0) - Number(localStorage[TIME + a] ?? 0));

  function remember(text) {
    if (text) {
      const { id, exchanges } = JSON.parse(text);
      sessionStorage[OPEN] = id;
      store(id, text);
      localStorage[NAME + id] ??= exchanges[0].question.slice(0, LONGEST_NAME);
    } else delete sessionStorage[OPEN];
    list();
  }

  // The browser gives some megabytes; when they are full, the oldest conversations go.
  function store(id, text) {
    for (;;) {
      try {
        localStorage[TEXT + id] = text;
        localStorage[TIME + id] = Date.now();
        return;
      } catch (error) {
        const oldest = ids().filter((other) => other !== id).at(-1);
        if (!oldest) throw error;
        forget(oldest);
      }
    }
  }

  function forget(id) {
    for (const prefix of [TEXT, NAME, TIME]) localStorage.removeItem(prefix + id);
  }

  function open(id) {
    const text = localStorage[TEXT + id];
    if (!text) return;
    sessionStorage[OPEN] = id;
    window.assistant.act("restore", { text });
  }

  function list() {
    const items = document.querySelector("#kept ul");
    if (!items) return;
    items.replaceChildren(...ids().map(item));
    document.querySelector("#kept .empty").hidden = items.children.length > 0;
  }

  function item(id) {
    const li = document.createElement("li");
    const name = button(localStorage[NAME + id] ?? "…", "", () => (open(id), (li.closest("details").open = false)));
    if (id === sessionStorage[OPEN]) name.setAttribute("aria-current", "true");
    const rename = button("Rename", `Rename “${name.textContent}”`, () => {
      const box = Object.assign(document.createElement("input"), { value: name.textContent, maxLength: LONGEST_NAME });
      box.setAttribute("aria-label", "New name");
      const done = (keep) => {
        if (keep && box.value.trim()) localStorage[NAME + id] = box.value.trim();
        list();
      };
      box.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === "Escape") event.stopPropagation(), done(event.key === "Enter");
      });
      box.addEventListener("blur", () => box.isConnected && done(true));
      name.replaceWith(box);
      box.select();
    });
    const remove = button("Delete", `Delete “${name.textContent}”`, () => {
      forget(id);
      if (id === sessionStorage[OPEN]) document.querySelector("#clear").click();
      list();
    });
    li.append(name, rename, remove);
    return li;
  }

  function button(text, label, onclick) {
    const element = Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick });
    if (label) element.setAttribute("aria-label", label);
    return element;
  }

  Object.assign(window.assistant, { remember });
  addEventListener("storage", list);

  // At first: the question of a link, else the conversation that was open on this page before it was loaded again.
  const started = new MutationObserver(() => {
    if (!document.querySelector("#act-restore, #act-ask") || !document.querySelector("#kept ul")) return;
    started.disconnect();
    list();
    const question = new URLSearchParams(location.search).get("q");
    setTimeout(() => {
      if (question) {
        history.replaceState(null, "", location.pathname);
        window.assistant.act("ask", { question });
      } else open(sessionStorage[OPEN]);
    });
  });
  started.observe(document.documentElement, { childList: true, subtree: true });
})();
