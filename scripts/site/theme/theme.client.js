// Applies the color scheme that the reader chose, before the page is drawn.
const chosen = localStorage.getItem("lathe-docs-theme")
if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen
