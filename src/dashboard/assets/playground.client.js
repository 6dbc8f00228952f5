// Sends the playground's form in the background: a check as it is typed, and what its buttons do.
// The service answers with the page, of which live.client.js shows what is new.

const TYPED_MS = 300
/** @type {Record<string, string[]>} What the answer to a button changes; others change the rows. */
const SHOWN = { run: ["form", "page"], check: ["form"] }

const form = document.querySelector("form[data-playground]")
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typed
/** @type {AbortController | null} */
let check = null
let isBusy = false

if (form instanceof HTMLFormElement) attend(form)

/** @param {HTMLFormElement} form */
function attend(form) {
  form.addEventListener("input", ({ target }) => {
    clearTimeout(typed)
    if (target instanceof HTMLSelectElement) {
      if (target.value) void act(form, "recipe")
      return
    }
    typed = setTimeout(() => void act(form, "check"), TYPED_MS)
  })
  // Before the page's own guard, which takes a form that was sent for one that is gone.
  document.addEventListener("submit", (event) => intercept(form, event), true)
  document.addEventListener("file:uploaded", (event) => {
    if (event instanceof CustomEvent) choose(form, event.detail)
  })
}

/**
 * @param {HTMLFormElement} form
 * @param {SubmitEvent} event
 */
function intercept(form, event) {
  if (event.target !== form) return
  event.preventDefault()
  clearTimeout(typed)
  const { submitter: button } = event
  void act(form, button instanceof HTMLButtonElement ? button.value : "check")
}

/**
 * What a button does ends before anything else begins; a check is stopped.
 * @param {HTMLFormElement} form
 * @param {string} action
 */
async function act(form, action) {
  if (isBusy) return
  check?.abort()
  const own = new AbortController()
  check = own
  isBusy = action !== "check"
  if (action === "run") setOnce(form)
  try {
    await send(form, action, own.signal)
  } catch (error) {
    if (!own.signal.aborted) tell(`This did not reach the service: ${String(error)}`)
  } finally {
    if (check === own) isBusy = false
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {string} action
 * @param {AbortSignal} signal
 */
async function send(form, action, signal) {
  const body = new URLSearchParams()
  for (const [name, value] of new FormData(form))
    if (typeof value === "string") body.append(name, value)
  body.set("action", action)
  // Its property of that name is the buttons that have it.
  const answer = await fetch(form.getAttribute("action") ?? "", { method: "POST", body, signal })
  const { pathname, search } = new URL(answer.url)
  // Who is signed out is sent to another page.
  if (pathname !== location.pathname) return location.assign(answer.url)
  const html = await answer.text()
  if (search) history.replaceState(null, "", pathname + search)
  const kinds = SHOWN[action] ?? ["form", "fields"]
  document.dispatchEvent(new CustomEvent("page:fresh", { detail: { html, kinds } }))
  if (action !== "run") return
  document.getElementById("result")?.scrollIntoView({ block: "nearest" })
  tell(search ? "The command runs as a job" : "The command cannot be run")
}

/**
 * Each click is a request of its own.
 * @param {HTMLFormElement} form
 */
function setOnce(form) {
  const field = form.elements.namedItem("once")
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  if (!(field instanceof HTMLInputElement)) return
  field.value = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/**
 * Puts a file where one is still to be chosen.
 * @param {HTMLFormElement} form
 * @param {{ id: string, name: string }} file
 */
function choose(form, { id, name }) {
  const option = document.createElement("option")
  option.value = `svc_id://${id}`
  option.label = name
  document.getElementById("known-files")?.prepend(option)
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = form.querySelectorAll("input[name=input_file]")
  const empty = [...fields].find(({ value }) => value.trim() === "")
  if (!empty) return
  empty.value = option.value
  empty.dispatchEvent(new Event("input", { bubbles: true }))
}

/** @param {string} text */
function tell(text) {
  const place = document.getElementById("announcements")
  if (place) place.textContent = text
}
