// Scripts of every page: copy buttons, confirmations, relative times. Pages also work without them.

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
 * Copies a text on pages without the Clipboard API, which browsers offer only over HTTPS.
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
 * Makes screen readers announce a text.
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
let submittedForms = new WeakSet()

// Each form is submitted once. A form with a question is submitted after the user confirms.
document.addEventListener("submit", (event) => {
  const { submitter: button, target: form } = event
  if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return
  const question = button?.dataset["confirm"]
  if (button && question !== undefined && !confirmed.delete(button)) {
    event.preventDefault()
    ask(question, button, form)
    return
  }
  if (submittedForms.has(form)) event.preventDefault()
  if (form.method === "post") submittedForms.add(form)
})

// The forms of a page from the back-forward cache may be submitted again.
addEventListener("pageshow", () => {
  submittedForms = new WeakSet()
})

/**
 * Asks for confirmation before a form is submitted.
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
    answer(button.firstChild?.textContent?.trim() || "Continue", "yes", button.className),
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
 * Formats a relative time like formatRelativeTime in components/format.ts.
 * @param {number} seconds
 */
function describe(seconds) {
  const [unit, unitSeconds] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? []
  if (unit && unitSeconds) return relative.format(Math.trunc(seconds / unitSeconds), unit)
  return seconds > 1 ? "in less than a minute" : "just now"
}

/**
 * Updates the relative times of the page. Their tooltips use the browser's language and time zone.
 */
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
