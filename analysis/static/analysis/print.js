"use strict";

// Opens every folded part of a page before it is printed, and folds it again afterwards.
(() => {
  let folded = [];

  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    // Parts with a common name close each other.
    document.querySelectorAll("details[name]").forEach((part) => { part.dataset.group = part.name; part.name = ""; });
    folded.forEach((part) => { part.open = true; });
  });

  window.addEventListener("afterprint", () => {
    folded.forEach((part) => { part.open = false; });
    document.querySelectorAll("details[data-group]").forEach((part) => { part.name = part.dataset.group; });
  });
})();
