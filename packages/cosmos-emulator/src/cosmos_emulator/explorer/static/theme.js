// Light, dark, or as the system says.

const STORED = "cosmos-explorer-theme";

/** Apply the stored theme, and let a select element change it. */
export function themeSwitch(control) {
  const apply = (theme) => { document.documentElement.dataset.theme = theme; };
  control.value = localStorage.getItem(STORED) ?? "system";
  apply(control.value);
  control.addEventListener("change", () => {
    localStorage.setItem(STORED, control.value);
    apply(control.value);
  });
}
