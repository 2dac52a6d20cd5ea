"use strict";

// Submits with a HIT what rate.js counted while it was rated, and how often text was pasted into the comment.
(() => {
  const field = document.querySelector("[name=signals]");
  const pastes = document.querySelector("[name=comment_pastes]");

  function countsAt(place) {
    try {
      return JSON.parse(localStorage.getItem(`signals:${field.dataset.assignment}:${place}`));
    } catch {
      return null;
    }
  }

  field.value = JSON.stringify(
    Array.from({ length: Number(field.dataset.size) }, (_, index) => countsAt(index + 1)),
  );
  document.getElementById("comment").addEventListener("paste", () => {
    pastes.value = String(Number(pastes.value) + 1);
  });
})();
