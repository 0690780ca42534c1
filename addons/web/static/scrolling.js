// Makes code blocks and tables tab stops while they scroll sideways. Without scripts, Chrome and Firefox do it themselves:
// https://developer.chrome.com/blog/keyboard-focusable-scrollers
const prose = document.querySelector(".prose");
const sizes = new ResizeObserver(entries => entries.forEach(({ target }) => setTabStop(target)));

new MutationObserver(observeAll).observe(prose, { childList: true });
observeAll();

function observeAll() {
  sizes.disconnect();
  for (const element of prose.querySelectorAll("pre, table")) sizes.observe(element);
}

function setTabStop(element) {
  if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
  else element.removeAttribute("tabindex");
}
