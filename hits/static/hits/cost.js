"use strict";

// Recalculates the cost as the numbers change, as hits/campaigns/costs.py does. Works in cents and hundredths so that
// both round the same way.
(() => {
  const form = document.getElementById("cost-form");
  const { hits, translations, covered, undecided, sofar, spent } = Object.fromEntries(
    Object.entries(form.dataset).map(([name, value]) => [name, Number(value)]));
  const money = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const whole = new Intl.NumberFormat("en");

  const hundredths = (name) => Math.round(Number(form.elements[name].value) * 100);

  function show(name, text) {
    document.querySelector(`[data-out=${name}]`).textContent = text;
  }

  function calculate() {
    if (!form.checkValidity()) return;
    const trusted = hits * Number(form.elements.ratings.value);
    const passing = Number(form.elements.passing.value);
    const missing = Math.max(0, trusted - covered);
    const toCome = Math.ceil((missing * 100 + undecided * (100 - passing)) / passing);
    const assignments = sofar + toCome;
    const workers = Math.round(spent * 100) + toCome * hundredths("pay");
    const fees = Math.round((workers * hundredths("fee")) / 10000);
    show("trusted", whole.format(trusted));
    show("assignments", whole.format(assignments));
    show("workers", money.format(workers / 100));
    show("fees", money.format(fees / 100));
    show("total", money.format((workers + fees) / 100));
    show("each", money.format(translations ? Math.round((workers + fees) / translations) / 100 : 0));
  }

  for (const range of form.querySelectorAll("input[type=range]")) {
    const field = form.elements[range.dataset.for];
    range.hidden = false;
    range.addEventListener("input", () => { field.value = range.value; calculate(); });
    field.addEventListener("input", () => { range.value = field.value; calculate(); });
  }
})();
