"""Walk through a page with the Tab key, as people without a mouse do."""

from playwright.sync_api import Locator, Page

# More than any page has controls.
MOST_TABS = 400

# The controls of a page that the Tab key should reach, numbered in the order of the page: a group of radio buttons is one.
NUMBER_CONTROLS = """() => {
  const seen = new Set();
  const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
    .filter((part) => part.tabIndex >= 0 && !part.disabled && part.type !== "hidden" && part.checkVisibility())
    .filter((part) => {
      if (part.type !== "radio") return true;
      const chosen = document.querySelector(`input[type=radio][name="${CSS.escape(part.name)}"]:checked`);
      if (chosen && chosen !== part || seen.has(part.name)) return false;
      seen.add(part.name);
      return true;
    });
  controls.forEach((part, number) => { part.dataset.tab = number; });
  return controls.map((part) => `${part.tagName} ${part.name || part.textContent.trim().slice(0, 30)}`);
}"""

# The number of the control with the focus, and whether it can be seen where it is.
FOCUSED = """() => {
  const part = document.activeElement;
  if (!part || part === document.body) return null;
  const box = part.getBoundingClientRect(), style = getComputedStyle(part);
  const ring = [style, getComputedStyle(part.closest("label, th, td, li, .choice") || part)].some((look) =>
    look.outlineStyle !== "none" && parseFloat(look.outlineWidth) > 0 || look.boxShadow !== "none");
  return {
    number: Number(part.dataset.tab ?? -1),
    sees: ring && box.bottom > 0 && box.top < innerHeight && box.width > 0,
  };
}"""


def tab_to(page: Page, part: Locator, *, most: int = MOST_TABS) -> int:
    """Press Tab until this has the focus; return how often."""
    part.wait_for(state="visible")
    for n_tabs in range(most + 1):
        if part.evaluate("element => element === document.activeElement"):
            return n_tabs
        page.keyboard.press("Tab")
    raise AssertionError(f"{most} times Tab do not reach {part}.")


def walk(page: Page) -> tuple[list[str], list[int], list[int]]:
    """Press Tab through the whole page.

    Return the names of its controls, the numbers of those that got the focus, in order, and of those
    whose focus could not be seen.
    """
    names: list[str] = page.evaluate(NUMBER_CONTROLS)
    reached: list[int] = []
    unseen = []
    for _ in range(2 * len(names) + 50):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None:
            break
        # A part that scrolls is no control, and a date has several fields.
        if focused["number"] == -1 or focused["number"] in reached[-1:]:
            continue
        if focused["number"] in reached:
            break
        reached.append(focused["number"])
        if not focused["sees"]:
            unseen.append(focused["number"])
    return names, reached, unseen
