// The table of workers: select all on a page at once, and count the selected. Works without scripts too.
"use strict";

const form = document.querySelector("[data-workers]");

if (form) {
  const boxes = [...form.querySelectorAll('tbody input[type="checkbox"]')];
  const all = form.querySelector("[data-all]");
  const allBox = all.querySelector("input");
  const count = form.querySelector("[data-count]");

  const show = () => {
    const n = boxes.filter((box) => box.checked).length;
    count.textContent = n ? `${n} selected` : "";
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
  all.hidden = false;
  // The browser may have kept the selection after going back.
  show();
}
