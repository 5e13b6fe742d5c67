// Formulas: Markdown leaves \( … \) and \[ … \] in elements of class arithmatex; KaTeX sets them.
function setFormulas() {
  for (const element of document.querySelectorAll(".arithmatex")) {
    if (element.querySelector(".katex")) continue;
    const text = element.textContent.trim();
    const display = text.startsWith("\\[");
    katex.render(text.slice(2, -2), element, { displayMode: display, throwOnError: false });
  }
}
document.addEventListener("DOMContentLoaded", setFormulas);
if (document.readyState !== "loading") setFormulas();
