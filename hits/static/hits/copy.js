"use strict";

// Copies the completion code. Without permission it is selected instead.
(() => {
  const button = document.getElementById("copy");
  const code = document.getElementById("completion-code");
  const copied = document.getElementById("copied");
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      copied.textContent = copied.dataset.copied;
    } catch {
      getSelection().selectAllChildren(code);
      copied.textContent = copied.dataset.selected;
    }
  });
})();
