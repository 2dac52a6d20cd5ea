"use strict";

// The ranking page: a rank for each output. See answers.js for everything else.
//
// Besides tapping the ranks: a number key gives the text with the focus (or else the first without a rank) that rank and
// moves on, and texts can be dragged into their order by their grips, by mouse, pen or finger.
(() => {
  const form = document.getElementById("rating-form");
  const next = document.getElementById("next");
  const list = document.getElementById("outputs");
  const above = document.getElementById("text-above");
  const source = document.getElementById("text-source");
  const skip = document.getElementById("skip");
  const pattern = list.querySelector("li").cloneNode(true);

  const rows = () => [...list.children];
  const rankOf = (row) => Number(row.querySelector("input:checked")?.value ?? 0);

  function rowOf(output, number) {
    const row = pattern.cloneNode(true);
    const text = row.querySelector(".text");
    text.textContent = output.text || "—";
    text.id = `text-${output.code}`;
    const fieldset = row.querySelector("fieldset");
    fieldset.setAttribute("aria-describedby", text.id);
    row.prepend(newGrip());
    const legend = fieldset.querySelector("legend");
    legend.textContent = legend.textContent.replace(/\d+/, String(number));
    row.querySelectorAll("input").forEach((input) => {
      input.name = `rank-${output.code}`;
      input.checked = false;
    });
    return row;
  }

  function update() {
    next.disabled = !form.dataset.shown || rows().some((row) => !rankOf(row));
  }

  function giveRank(rank) {
    const focused = document.activeElement.closest("#outputs > li");
    const row = focused ?? rows().find((candidate) => !rankOf(candidate)) ?? rows()[0];
    const input = row.querySelector(`input[value="${rank}"]`);
    if (!input) return;
    input.checked = true;
    const following = row.nextElementSibling?.querySelector("input") ?? next;
    update();
    following.focus();
  }

  list.addEventListener("change", update);
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || document.activeElement.closest("details")) return;
    if (/^[1-5]$/.test(event.key)) {
      event.preventDefault();
      giveRank(event.key);
    } else if (event.key === "Enter" && document.activeElement.matches("#outputs input")) {
      event.preventDefault();
      if (!next.disabled) form.requestSubmit();
    }
  });

  // Drag a text to its place among the others. The keyboard has its number keys, so nothing is announced.
  // So near to the end of the window, in pixels, the page scrolls.
  const EDGE = 48;
  let dragged = null;
  let orderBefore = [];

  function newGrip() {
    const grip = document.createElement("span");
    grip.className = "grip";
    grip.setAttribute("aria-hidden", "true");
    grip.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      // Neither selects text, nor scrolls (see touch-action in the style sheet).
      event.preventDefault();
      dragged = grip.closest("li");
      dragged.classList.add("dragged");
      orderBefore = rows();
    });
    return grip;
  }

  function isBehind(event, row) {
    const box = row.getBoundingClientRect();
    const isBeside = Math.abs(box.top - dragged.getBoundingClientRect().top) < box.height / 2;
    return isBeside ? event.clientX > box.left + box.width / 2 : event.clientY > box.top + box.height / 2;
  }

  // On the document, because the grip moves with its text and then no longer gets the events.
  document.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    if (event.clientY < EDGE || event.clientY > innerHeight - EDGE) {
      window.scrollBy(0, event.clientY < EDGE ? -EDGE / 4 : EDGE / 4);
    }
    const over = document.elementFromPoint(event.clientX, event.clientY)?.closest("#outputs > li");
    if (over && over !== dragged) over[isBehind(event, over) ? "after" : "before"](dragged);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => {
      if (!dragged) return;
      const moved = dragged;
      dragged = null;
      moved.classList.remove("dragged");
      if (rows().some((row, place) => row !== orderBefore[place])) rankByOrder(moved);
    });
  }

  // Ranks follow the order. Texts that were equal stay so, and one dropped between equals becomes their equal, if the
  // others stand in the order of their ranks; otherwise each place is a rank.
  function rankByOrder(moved) {
    const old = rows().map((row) => (row === moved ? 0 : rankOf(row)));
    const others = rows().filter((row) => row !== moved).map(rankOf);
    const areInOrder = others.every((rank, place) => rank && (!place || others[place - 1] <= rank));
    let rank = 0;
    rows().forEach((row, place) => {
      const [before, own, after] = [old[place - 1], old[place], old[place + 1]];
      const isEqual = row === moved
        ? before && before === after
        : own === before || (rows()[place - 1] === moved && own === old[place - 2]);
      if (!areInOrder || !isEqual) rank += 1;
      row.querySelector(`input[value="${rank}"]`).checked = true;
    });
    update();
  }

  // In an admin's preview there is nothing to send.
  if (typeof answerItems !== "function") return;
  answerItems({
    show(item) {
      if (above) above.textContent = item ? item.above : "…";
      if (source) source.textContent = item ? item.source : "…";
      list.replaceChildren(...(item ? item.outputs.map((output, place) => rowOf(output, place + 1)) : []));
      if (skip) {
        skip.open = false;
        skip.querySelectorAll("input").forEach((input) => { input.checked = false; });
      }
      update();
      list.querySelector("input")?.focus({ preventScroll: true });
    },
    answer(item) {
      const reason = form.elements.skip?.value;
      if (reason) return { skip: reason };
      if (rows().some((row) => !rankOf(row))) return null;
      return Object.fromEntries(item.outputs.map(({ code }) => [
        `rank-${code}`, form.elements[`rank-${code}`].value,
      ]));
    },
  });
})();
