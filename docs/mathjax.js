// Formulas between \( \) and \[ \], as arithmatex writes them.
window.MathJax = {
  tex: { inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]], tags: "none" },
  options: { ignoreHtmlClass: ".*|", processHtmlClass: "arithmatex" },
};
