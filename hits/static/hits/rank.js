"use strict";

// The ranking page: a rank for each output. See answers.js for everything else.
//
// Besides tapping the ranks: a number key gives the text with the focus (or else the first without a rank) that rank and
// moves on, and texts can be dragged into their order.
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

  // Drag a text up or down to rank all texts by their order; ties need the buttons.
  let dragged = null;
  list.addEventListener("dragstart", (event) => { dragged = event.target.closest("li"); });
  list.addEventListener("dragover", (event) => {
    const over = event.target.closest("#outputs > li");
    if (!dragged || !over || over === dragged) return;
    event.preventDefault();
    const isBelow = event.clientY > over.getBoundingClientRect().top + over.offsetHeight / 2;
    over[isBelow ? "after" : "before"](dragged);
  });
  list.addEventListener("drop", (event) => event.preventDefault());
  list.addEventListener("dragend", () => {
    dragged = null;
    rows().forEach((row, place) => { row.querySelectorAll("input")[place].checked = true; });
    update();
  });

  // In an admin's preview there is nothing to send.
  if (typeof answerItems !== "function") return;
  answerItems({
    show(item) {
      if (above) above.textContent = item ? item.above : "…";
      if (source) source.textContent = item ? item.source : "…";
      list.replaceChildren(...(item ? item.outputs.map((output, place) => rowOf(output, place + 1)) : []));
      rows().forEach((row) => { row.draggable = true; });
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
