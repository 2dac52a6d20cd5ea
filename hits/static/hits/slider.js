"use strict";

// A slider that starts unset. It follows the ARIA slider pattern and works with a mouse, a finger,
// the arrow, page, home and end keys, digits and two step buttons.

// eslint-disable-next-line no-unused-vars
class Slider {
  static MIN = 0;
  static MAX = 100;
  static LARGE_STEP = 10;
  // Digits typed within this time belong to one number.
  static DIGIT_MS = 900;
  // The upper limit of each word for the value, in the order of data-words.
  static WORD_LIMITS = [0, 12, 37, 62, 87, 99, 100];

  // `root` holds the slider and its step buttons; `isCurrent` says whether keys pressed elsewhere on the page are meant for it.
  constructor({ root = document, onChange, onEnter, isCurrent = () => true }) {
    const element = root.querySelector("[role=slider]");
    this.element = element;
    this.thumb = element.querySelector(".thumb");
    this.words = element.dataset.words.split("|");
    this.onChange = onChange;
    this.onEnter = onEnter;
    this.score = null;
    this.digits = "";
    this.lastDigitAt = 0;
    this.isCurrent = isCurrent;
    root.querySelector(".radios").remove();
    element.hidden = false;
    element.addEventListener("pointerdown", (event) => this.#grab(event));
    element.addEventListener("pointermove", (event) => this.#drag(event));
    element.addEventListener("keydown", (event) => this.#press(event));
    // Every new item focuses the slider. Hide the focus ring from people who use no keys.
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener("keydown", () => element.classList.remove("by-pointer"), { signal });
    document.addEventListener("keydown", (event) => this.#pressElsewhere(event), { signal });
    for (const button of root.querySelectorAll(".step")) {
      button.hidden = false;
      button.addEventListener("click", (event) => this.#step(event, Number(button.dataset.by)));
    }
  }

  // The slider leaves the page.
  remove() {
    this.listening.abort();
  }

  get isRightToLeft() {
    return getComputedStyle(this.element).direction === "rtl";
  }

  set(score) {
    this.score = Math.min(Slider.MAX, Math.max(Slider.MIN, Math.round(score)));
    this.thumb.style.insetInlineStart = `${this.score}%`;
    this.element.classList.add("is-set");
    this.element.setAttribute("aria-valuenow", String(this.score));
    const word = Slider.WORD_LIMITS.findIndex((limit) => this.score <= limit);
    this.element.setAttribute("aria-valuetext", this.words[word]);
    this.onChange();
  }

  unset() {
    this.score = null;
    this.digits = "";
    this.element.classList.remove("is-set");
    this.element.setAttribute("aria-valuenow", "50");
    this.element.setAttribute("aria-valuetext", this.element.dataset.unset);
    this.onChange();
  }

  #move(by) {
    // From unset, the first step starts in the middle.
    this.set(this.score === null ? 50 : this.score + by);
  }

  #step(event, by) {
    this.#move(by);
    // After a click, keys mean the slider again. A button pressed by a key keeps the focus.
    if (event.detail > 0) this.#focusByPointer();
  }

  #focusByPointer() {
    this.element.classList.add("by-pointer");
    this.element.focus({ preventScroll: true });
  }

  #grab(event) {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.#focusByPointer();
    this.#setFrom(event);
  }

  #drag(event) {
    if (this.element.hasPointerCapture(event.pointerId)) this.#setFrom(event);
  }

  #setFrom(event) {
    const box = this.element.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    this.set(Slider.MAX * (this.isRightToLeft ? 1 - share : share));
  }

  #press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const forward = this.isRightToLeft ? -1 : 1;
    const actions = {
      ArrowRight: () => this.#move(forward),
      ArrowLeft: () => this.#move(-forward),
      ArrowUp: () => this.#move(1),
      ArrowDown: () => this.#move(-1),
      PageUp: () => this.#move(Slider.LARGE_STEP),
      PageDown: () => this.#move(-Slider.LARGE_STEP),
      Home: () => this.set(Slider.MIN),
      End: () => this.set(Slider.MAX),
      Enter: () => this.onEnter(),
    };
    if (/^[0-9]$/.test(event.key)) this.#type(event.key);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  }

  // Digits and Enter work wherever the focus is, unless another control uses them.
  #pressElsewhere(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || !this.isCurrent()) return;
    const control = event.target.closest("[role=slider], input, textarea, select, a, button, summary, audio, video");
    if (/^[0-9]$/.test(event.key) && !control?.matches("[role=slider], input, textarea, select, audio, video")) {
      this.#type(event.key);
    } else if (event.key === "Enter" && !control?.matches(":not(input)")) {
      this.onEnter();
    }
  }

  // One digit jumps to that tenth; two or three digits make a number: 7 is 70, 7 3 is 73, 1 0 0 is 100.
  #type(digit) {
    const now = performance.now();
    const isFresh = now - this.lastDigitAt > Slider.DIGIT_MS || Number(this.digits + digit) > Slider.MAX;
    this.digits = isFresh ? digit : this.digits + digit;
    this.lastDigitAt = now;
    this.set(this.digits.length === 1 ? Number(digit) * 10 : Number(this.digits));
  }
}
