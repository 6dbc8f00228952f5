import MiniSearch from "minisearch"

// Search in the texts of all pages, which the browser indexes by itself.

/** @typedef {{ id: number, url: string, page: string, heading: string, text: string }} Section */

const RESULTS_MAX = 20
const EXCERPT_CHARACTERS = 140

/** @type {MiniSearch<Section> | undefined} */
let sections

const dialog = document.createElement("dialog")
dialog.className = "search"
dialog.ariaLabel = "Search"
const input = document.createElement("input")
input.type = "search"
input.ariaLabel = "Search the documentation"
input.placeholder = "Search the documentation"
const note = document.createElement("p")
note.role = "status"
const list = document.createElement("ol")
dialog.append(input, note, list)
document.body.append(dialog)

input.addEventListener("input", showResults)
dialog.addEventListener("click", (event) => {
  const isLink = event.target instanceof Element && event.target.closest("a") !== null
  if (event.target === dialog || isLink) dialog.close()
})
dialog.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target === input) list.querySelector("a")?.click()
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  event.preventDefault()
  const links = [...list.querySelectorAll("a")]
  const at = links.findIndex((link) => link === document.activeElement)
  const next = links[at + (event.key === "ArrowDown" ? 1 : -1)]
  if (next) next.focus()
  else input.focus()
})

/**
 * Opens the search.
 * @param {string} index
 */
export function showSearch(index) {
  dialog.showModal()
  input.select()
  if (sections) return
  void loadIndex(index).then(showResults)
}

/** @param {string} index */
async function loadIndex(index) {
  const answer = await fetch(index)
  /** @type {Section[]} */
  const rows = await answer.json()
  const made = new MiniSearch({
    fields: ["heading", "page", "text"],
    storeFields: ["url", "page", "heading", "text"],
    searchOptions: {
      boost: { heading: 4, page: 3 },
      combineWith: "AND",
      fuzzy: 0.15,
      prefix: true,
    },
  })
  made.addAll(rows)
  sections = made
}

function showResults() {
  list.replaceChildren()
  const words = input.value.trim()
  if (!sections || words === "") {
    note.textContent = sections ? "Type to search in all pages." : "Loading …"
    return
  }
  const found = sections.search(words)
  note.textContent = found.length === 1 ? "1 result" : `${found.length} results`
  for (const result of found.slice(0, RESULTS_MAX)) {
    const { url, page, heading, text } = result
    const link = document.createElement("a")
    link.href = String(url)
    const title = document.createElement("strong")
    title.textContent = heading === "" ? String(page) : `${page}: ${heading}`
    const excerpt = document.createElement("small")
    excerpt.textContent = cutExcerpt(String(text), result.queryTerms)
    link.append(title, excerpt)
    const item = document.createElement("li")
    item.append(link)
    list.append(item)
  }
}

/**
 * Returns the part of a text around the first found word.
 * @param {string} text
 * @param {string[]} words
 */
function cutExcerpt(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0)
  const start = Math.max(0, Math.min(...places, text.length) - EXCERPT_CHARACTERS / 3)
  const from = places.length === 0 ? 0 : start
  const cut = text.slice(from, from + EXCERPT_CHARACTERS)
  return `${from > 0 ? "…" : ""}${cut}${from + EXCERPT_CHARACTERS < text.length ? "…" : ""}`
}
