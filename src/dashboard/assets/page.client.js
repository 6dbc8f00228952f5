// Small helps that every page has; each page works without them.

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null
  if (button instanceof HTMLElement) void copy(button)
})

const COPIED_MS = 2000

/** @param {HTMLElement} button */
async function copy(button) {
  const text = button.dataset["copy"] ?? ""
  if (isSecureContext) await navigator.clipboard.writeText(text)
  else copyBySelection(text)
  announce("Copied")
  button.classList.add("copied")
  setTimeout(() => button.classList.remove("copied"), COPIED_MS)
}

/**
 * Copies where a page came by plain HTTP from another machine, and there is no clipboard.
 * @param {string} text
 */
function copyBySelection(text) {
  const area = document.createElement("textarea")
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand("copy")
  area.remove()
}

/**
 * Tells screen readers what happened.
 * @param {string} text
 */
function announce(text) {
  const place = document.getElementById("announcements")
  if (!place) return
  place.textContent = ""
  setTimeout(() => {
    place.textContent = text
  }, 50)
}

/** @type {WeakSet<HTMLElement>} */
const confirmed = new WeakSet()
/** @type {WeakSet<HTMLFormElement>} */
let sent = new WeakSet()

// A form is sent once, and one whose button asks first only after its question.
document.addEventListener("submit", (event) => {
  const { submitter: button, target: form } = event
  if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return
  const question = button?.dataset["confirm"]
  if (button && question !== undefined && !confirmed.delete(button)) {
    event.preventDefault()
    ask(question, button, form)
    return
  }
  if (sent.has(form)) event.preventDefault()
  if (form.method === "post") sent.add(form)
})

// A page that comes back from the browser's memory may send its forms again.
addEventListener("pageshow", () => {
  sent = new WeakSet()
})

/**
 * Asks before a form is sent.
 * @param {string} question
 * @param {HTMLElement} button
 * @param {HTMLFormElement} form
 */
function ask(question, button, form) {
  const dialog = document.createElement("dialog")
  const text = document.createElement("p")
  text.id = "confirm-question"
  text.textContent = question
  dialog.setAttribute("aria-labelledby", text.id)
  const answers = document.createElement("form")
  answers.method = "dialog"
  answers.className = "actions"
  answers.append(
    answer("Cancel", "", "button"),
    answer(button.firstChild?.textContent?.trim() || "Go on", "yes", button.className),
  )
  dialog.append(text, answers)
  dialog.addEventListener("close", () => {
    dialog.remove()
    if (dialog.returnValue !== "yes") return
    confirmed.add(button)
    form.requestSubmit(button)
  })
  document.body.append(dialog)
  dialog.showModal()
}

/**
 * @param {string} title
 * @param {string} value
 * @param {string} className
 */
function answer(title, value, className) {
  const button = document.createElement("button")
  button.value = value
  button.className = className
  button.textContent = title
  return button
}

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" })
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const STEPS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
]

/**
 * As formatRelative of components/format.ts says it.
 * @param {number} seconds
 */
function describe(seconds) {
  const [unit, unitSeconds] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? []
  if (unit && unitSeconds) return relative.format(Math.trunc(seconds / unitSeconds), unit)
  return seconds > 1 ? "in less than a minute" : "just now"
}

/** Times of the page as of now, with titles in the words and the zone of the reader. */
function showTimes() {
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const at = new Date(time.getAttribute("datetime") ?? "")
    if (Number.isNaN(at.getTime())) continue
    const text = describe((at.getTime() - Date.now()) / 1000)
    if (time.textContent !== text) time.textContent = text
    time.setAttribute("title", exact.format(at))
  }
}

const TIMES_MS = 15_000
showTimes()
setInterval(showTimes, TIMES_MS)
