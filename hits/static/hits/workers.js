// The table of workers: select all on a page at once, count the selected, and go from the table to the buttons with
// Enter. Works without scripts too.
"use strict";

const form = document.querySelector("[data-workers]");

if (form) {
  const boxes = [...form.querySelectorAll('tbody input[type="checkbox"]')];
  const all = form.querySelector("[data-all]");
  const allBox = all.querySelector("input");
  const count = form.querySelector("[data-count]");
  const advice = count.textContent;
  const everyone = form.querySelector("[data-everyone]");

  const show = () => {
    const n = boxes.filter((box) => box.checked).length;
    const isEveryone = everyone?.checked ?? false;
    count.textContent = isEveryone ? "All selected" : n ? `${n} selected` : advice;
    for (const box of [allBox, ...boxes]) {
      box.disabled = isEveryone;
    }
    allBox.checked = n === boxes.length;
    allBox.indeterminate = n > 0 && n < boxes.length;
  };

  allBox.addEventListener("change", () => {
    for (const box of boxes) {
      box.checked = allBox.checked;
    }
    show();
  });
  form.addEventListener("change", show);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.type === "checkbox") {
      event.preventDefault();
      form.querySelector(".deciding button").focus();
    }
  });
  all.hidden = false;
  // The browser may have kept the selection after going back.
  show();
}
