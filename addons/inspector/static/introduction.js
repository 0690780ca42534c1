// Dismisses the panel of the front page, in this browser for a year. pages.py reads the cookie.
const YEAR_S = 365 * 24 * 3600;
const panel = document.querySelector("[data-introduction]");

panel.querySelector("[data-dismiss]").addEventListener("click", () => {
  document.cookie = `blog-introduced=1; Path=/; Max-Age=${YEAR_S}; SameSite=Lax`;
  panel.remove();
  document.getElementById("main").focus();
});
