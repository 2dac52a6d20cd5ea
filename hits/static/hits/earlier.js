"use strict";

// The earlier segments of a document, above the current one: open on a large screen, folded on a phone.
// eslint-disable-next-line no-unused-vars
class Earlier {
  constructor() {
    this.element = document.getElementById("earlier");
    this.list = document.getElementById("earlier-texts");
    this.box = this.list.parentElement;
    this.above = document.getElementById("text-above");
    this.below = document.getElementById("text-below");
    // Everything that was sent, by position: what was rated on an earlier page, and what waits to be sent.
    this.segments = new Map();
    for (const id of ["earlier-items", "items"]) {
      const sent = document.getElementById(id);
      if (sent) JSON.parse(sent.textContent).forEach((segment) => this.#keep(segment));
    }
    this.element.open = !window.matchMedia("(max-width: 40rem)").matches;
    this.element.addEventListener("toggle", () => this.#toEnd());
  }

  // Show what stands before this segment in its document.
  show(segment) {
    this.#keep(segment);
    const earlier = [...this.segments.values()]
      .filter(({ run, position }) => run === segment.run && position < segment.position)
      .sort((one, other) => one.position - other.position);
    this.list.replaceChildren(...earlier.map((each) => this.#row(each)));
    this.element.hidden = !earlier.length;
    this.#toEnd();
    this.#forget(segment.run);
  }

  #keep(segment) {
    this.segments.set(segment.position, segment);
  }

  // The browser keeps no document that is done.
  #forget(run) {
    for (const [position, segment] of this.segments) {
      if (segment.run < run) this.segments.delete(position);
    }
  }

  #row(segment) {
    const row = document.createElement("li");
    if (segment.media) row.append(earlierMedia(segment));
    if (this.above && (segment.above || !segment.media)) row.append(this.#paragraph(this.above, segment.above));
    row.append(this.#paragraph(this.below, segment.text || "—"));
    return row;
  }

  #paragraph(like, text) {
    const paragraph = like.cloneNode(false);
    paragraph.removeAttribute("id");
    paragraph.textContent = text;
    return paragraph;
  }

  #toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }
}
