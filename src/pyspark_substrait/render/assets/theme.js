// Light or dark: as the system says, until somebody chooses.

/** The colours that are shown now. @returns {"light" | "dark"} */
function shownTheme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Takes the colours that were chosen before, where the browser keeps that. */
function rememberedTheme() {
  try {
    const chosen = localStorage.getItem("plan-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // a page from a file may not be allowed to keep anything
  }
}

function switchTheme() {
  const chosen = shownTheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem("plan-theme", chosen);
  } catch {
    // then it holds for now
  }
  document.dispatchEvent(new CustomEvent("plan:theme"));
}
