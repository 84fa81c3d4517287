(() => {
  const HIGHLIGHTED_MS = 2500;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const chipThatLedTo = new Map();
  let following = true;

  const show = (element, block) => element.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block });

  function openSource(chip) {
    const card = document.getElementById(chip.hash.slice(1));
    if (!card) return;
    chipThatLedTo.set(card.id, chip.id);
    card.open = true;
    const quotation = document.getElementById(chip.dataset.quote);
    card.querySelector("summary").focus({ preventScroll: true });
    show(fits(card) || !quotation ? card : quotation, "start");
    card.classList.add("found");
    setTimeout(() => card.classList.remove("found"), HIGHLIGHTED_MS);
  }

  function fits(card) {
    return card.offsetHeight < card.closest(".sources").clientHeight && card.offsetHeight < innerHeight;
  }

  function goBack(link) {
    const number = link.dataset.source;
    const citing = [...document.querySelectorAll(`.cite[href="#source-${number}"]`)];
    const chip = document.getElementById(chipThatLedTo.get(`source-${number}`)) || citing.at(-1);
    if (!chip) return;
    chip.focus({ preventScroll: true });
    show(chip, "center");
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.(".cite, .back");
    if (!target) return;
    event.preventDefault();
    if (target.matches(".cite")) openSource(target);
    else goBack(target);
  });

  // The newest turn stays in view while it grows, its question at the top at the latest, until the reader does anything.
  for (const gesture of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(gesture, (event) => (following &&= !!event.target.closest?.("#composer")), { passive: true });
  }
  let turns = 0;
  const resized = new ResizeObserver(follow);
  function follow() {
    const all = document.querySelectorAll(".turn");
    if (all.length > turns) following = true;
    turns = all.length;
    const newest = all[turns - 1];
    if (!newest || !following) return;
    const log = newest.closest(".log");
    const composer = document.getElementById("composer");
    for (const element of [log, composer]) resized.observe(element);
    document.documentElement.style.setProperty("--composer", `${composer.offsetHeight}px`);
    const room = Math.min(log.clientHeight, innerHeight - composer.offsetHeight);
    newest.scrollIntoView({ block: newest.offsetHeight < room ? "end" : "start" });
  }
  new MutationObserver(follow).observe(document.documentElement, { childList: true, subtree: true, characterData: true });
})();
