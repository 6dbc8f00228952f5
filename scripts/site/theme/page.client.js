// The parts of a page that need a script: the color scheme, copies of code, and the opening of the search.

const themeButton = document.querySelector(".theme-button")
if (themeButton instanceof HTMLElement) {
  themeButton.hidden = false
  themeButton.addEventListener("click", () => {
    const root = document.documentElement
    const isDark =
      root.dataset["theme"] === undefined
        ? matchMedia("(prefers-color-scheme: dark)").matches
        : root.dataset["theme"] === "dark"
    root.dataset["theme"] = isDark ? "light" : "dark"
    localStorage.setItem("lathe-docs-theme", root.dataset["theme"])
  })
}

for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = "Copy"
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "").then(() => {
      button.textContent = "Copied"
      setTimeout(() => (button.textContent = "Copy"), 2000)
    })
  })
  block.append(button)
}

const searchButton = document.querySelector(".search-button")
if (searchButton instanceof HTMLElement) {
  searchButton.hidden = false
  searchButton.addEventListener("click", () => void openSearch(searchButton))
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.matches("input, textarea")
    const isShortcut = event.key === "k" && (event.ctrlKey || event.metaKey)
    if (!isShortcut && (event.key !== "/" || isTyping)) return
    event.preventDefault()
    void openSearch(searchButton)
  })
}

/**
 * Loads the search at its first use.
 * @param {HTMLElement} button
 */
async function openSearch(button) {
  const { search, index } = button.dataset
  /** @type {{ showSearch: (index: string) => void }} */
  const module = await import(search ?? "")
  module.showSearch(index ?? "")
}
