"""How the tests walk through the page, and what they measure on the way: names, contrast, width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.web.conftest import Server

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LONG = 60_000  # milliseconds; machines may be busy
RUN = 5 * LONG  # for a whole run, on a machine whose kernels are not compiled yet
STEPS = ("Workspaces", "Columns", "Overview", "Risk", "Protect", "Hierarchy", "Run", "Compare", "Hand over", "Check")
# Text whose contrast with the background behind it is below 4.5 (WCAG AA), as [contrast, text]; colours are final.
LOW_CONTRAST = """() => {
  const parts = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
    return .2126 * r + .7152 * g + .0722 * b };
  const under = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c.slice(0, 3) } return [255, 255, 255] };
  const over = (c, back) => c.length < 4 ? c : c.slice(0, 3).map((v, i) => v * c[3] + back[i] * (1 - c[3]));
  const block = (e) => e.closest('.block')?.querySelector('rect');
  const found = [];
  for (const e of document.querySelectorAll('header *, .notice *, .dataset *, nav *, main *')) {
    const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent.trim()).join('');
    if (!text || !e.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    if (e.closest('title, .hidden-from-eyes, .q-icon, [disabled], .disabled')) continue;
    const style = getComputedStyle(e), drawn = e.closest('svg'), box = drawn && block(e);
    const back = box && getComputedStyle(box).fill !== 'none' ? parts(getComputedStyle(box).fill) : under(e);
    const faint = [...function* () { for (let p = e; p; p = p.parentElement) yield +getComputedStyle(p).opacity }()]
      .reduce((a, b) => a * b, 1);
    const own = parts(drawn ? style.fill : style.color);
    const ink = over([...own.slice(0, 3), (own[3] ?? 1) * faint], back);
    const [a, b] = [light(ink), light(back)].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) found.push([Math.round(100 * (a + .05) / (b + .05)) / 100, text.slice(0, 60)]);
  }
  return found;
}"""
# What a person must be able to name, and what the browser would tell a screen reader: elements without a name.
NAMELESS = """() => {
  const named = (e) => e.ariaLabel || e.getAttribute('aria-labelledby') || e.textContent.trim() || e.labels?.length
    || e.closest('label')?.textContent.trim() || e.alt || e.title;
  const some = 'a[href], button, input:not([type=file]):not([type=hidden]), select, textarea, svg[role], nav, aside,'
    + '[tabindex="0"], [role=button], [role=checkbox], [role=combobox], [role=slider],'
    + '[role=progressbar], [role=region]';
  return [...document.querySelectorAll(some)]
    .filter(e => e.checkVisibility() && !e.closest('[aria-hidden=true]') && !named(e))
    .map(e => e.outerHTML.slice(0, 160));
}"""
# Ids that stand twice, headings that skip a level, lists with other children, tables without a head.
UNSOUND = """() => {
  const wrong = [], ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  ids.filter((id, n) => ids.indexOf(id) !== n).forEach(id => wrong.push('twice: #' + id));
  let last = 0;
  for (const e of document.querySelectorAll('main h1, main h2, main h3, main h4')) {
    if (!e.checkVisibility()) continue;
    const level = +e.tagName[1];
    if (level > last + 1) wrong.push(`<h${level}> after <h${last}>: ${e.textContent}`);
    last = level;
  }
  for (const e of document.querySelectorAll('main ul, main ol'))
    if ([...e.children].some(c => c.tagName !== 'LI')) wrong.push('list: ' + e.outerHTML.slice(0, 120));
  for (const e of document.querySelectorAll('main table')) if (!e.querySelector('th[scope]')) wrong.push('no head');
  for (const e of document.querySelectorAll('[tabindex="0"]:not(a, button, input, select, textarea, [role])'))
    if (e.checkVisibility()) wrong.push('no role: ' + e.outerHTML.slice(0, 120));
  if (document.querySelectorAll('main:not([role=none]), [role=main]').length !== 1) wrong.push('not one <main>');
  if (!document.documentElement.lang) wrong.push('no language');
  return wrong;
}"""
# Parts that stick out of the window at the right, unless they can be scrolled to inside the page.
TOO_WIDE = """() => [...document.querySelectorAll('header *, .notice *, .dataset *, nav *, main *')]
  .filter(e => e.checkVisibility() && !e.closest('.scroll, .page > nav, .hidden-from-eyes, .skip, svg')
  && e.getBoundingClientRect().width
  && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 120))
  .concat(document.documentElement.scrollWidth > innerWidth ? ['the page itself'] : [])"""
# Errors of fields that print over what stands below them.
OVERLAID = """() => [...document.querySelectorAll('.q-field__messages')].filter(e => e.textContent.trim()).filter(e => {
  const field = e.closest('.q-field'), next = field.nextElementSibling, end = e.getBoundingClientRect().bottom;
  return end > field.getBoundingClientRect().bottom + 1 || (next && next.getBoundingClientRect().top < end - 1
    && next.getBoundingClientRect().left < field.getBoundingClientRect().right && next.checkVisibility());
}).map(e => 'overlaid: ' + e.textContent.slice(0, 80))"""
STILL = "*, *::before, *::after { animation: none !important; transition: none !important; caret-color: transparent }"


def is_own(address: str, server: Server) -> bool:
    """Whether an address is on the page's own server."""
    own = f"{server.host}/"
    return address.startswith((f"http://{own}", f"ws://{own}", f"blob:http://{own}", "data:"))


def expect(place: Locator) -> Any:
    """What a place must become like, however busy the machine is."""
    from playwright.sync_api import expect as expected

    return expected(place)


def go(page: Page, step: str) -> None:
    """Open a step; what is asked of the page next is asked of that step, not of the one before."""
    page.get_by_role("navigation", name="Steps").get_by_role("button", name=step).click()
    page.locator(f"nav button[aria-current]:text('{step}')").wait_for()


def upload(page: Page, name: str, content: bytes) -> None:
    """Drop a file; what is dropped on the first step is opened there."""
    file: Any = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("main input[type=file]").first.set_input_files(file)


def run_and_wait(page: Page, number: int, ends: str) -> None:
    """Start a run and wait for its end."""
    go(page, "Run")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name=f"Run {number}: {ends}").wait_for(timeout=RUN)


def give_reason(page: Page) -> None:
    """Where the release to hand over has a red light, give a reason; whether it has is not what the test is about."""
    page.get_by_role("button", name="Download the archive").wait_for()
    if page.get_by_role("heading", name="A reason is required").count():
        page.get_by_role("textbox", name="Reason", exact=True).fill("Only used inside this test.")
        page.get_by_role("button", name="Record the reason").click()
        page.get_by_text("recorded in the internal report of run").wait_for()


def audit(page: Page) -> list[Any]:
    """Everything that is wrong with what the page shows now, for whoever sees, hears or zooms it."""
    page.add_style_tag(content=STILL) if not page.evaluate("window.isStill") else None
    page.evaluate("window.isStill = true")
    return [
        found for script in (LOW_CONTRAST, NAMELESS, UNSOUND, TOO_WIDE, OVERLAID) for found in page.evaluate(script)
    ]
