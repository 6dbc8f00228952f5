// Fills the playground's form, checks its command through the API as it is typed, and runs it.
// live.client.js follows the job that runs.

/**
 * The fields of POST /v1/commands, and a row: `value` refers to an input file or names an output.
 * @typedef {{ input_files?: Record<string, string>, output_files?: Record<string, string>,
 *   ffmpeg_command?: string, ffmpeg_commands?: string[] }} CommandBody
 * @typedef {{ key: string, value: string }} Row
 * @typedef {{ field: string, message: string }} Fault
 * @typedef {{ message: string, details?: Fault[], errors?: Fault[], commands?: string[][],
 *   command_id?: string }} Answer
 * @typedef {"input" | "output"} Kind
 */

const TYPED_MS = 300
const FILE_RECIPE = "720p"
const VALID = "This can be run."
const WRONG = "This cannot be run yet; what is wrong stands at the fields."

const form = find(HTMLFormElement, "form[data-playground]")
const recipeField = find(HTMLSelectElement, "[name=recipe]")
const commandField = find(HTMLTextAreaElement, "[name=command]")
const codeTemplate = find(HTMLTemplateElement, "template[data-part=code]")
/** @type {(CommandBody & { id: string })[]} */
const recipes = JSON.parse(form.dataset["playground"] ?? "[]")
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typed
/** @type {AbortController | null} */
let checking = null
let isRunning = false

form.addEventListener("input", ({ target }) => {
  clearTimeout(typed)
  if (target === recipeField) useRecipe()
  typed = setTimeout(() => void check(), TYPED_MS)
})
form.addEventListener("submit", (event) => {
  event.preventDefault()
  clearTimeout(typed)
  const { submitter: button } = event
  act(button instanceof HTMLButtonElement ? button.value : "check")
})
document.addEventListener("file:uploaded", (event) => {
  if (event instanceof CustomEvent) choose(event.detail)
})
void begin()

/**
 * @template {Element} Found
 * @param {new () => Found} type
 * @param {string} selector
 */
function find(type, selector) {
  const found = document.querySelector(selector)
  if (!(found instanceof type)) throw new Error(`The page has no ${selector}.`)
  return found
}

/** Shows the command of the job, the recipe or the file that the page's address names. */
async function begin() {
  const query = new URLSearchParams(location.search)
  const job = query.get("job")
  const answer = job === null ? null : await fetch(`/v1/commands/${encodeURIComponent(job)}`)
  if (answer?.ok) show((await answer.json()).original_request)
  else {
    const file = query.get("file")
    recipeField.value = query.get("recipe") ?? (file === null ? "" : FILE_RECIPE)
    if (recipeField.selectedIndex < 1) recipeField.selectedIndex = 1
    useRecipe(file === null ? [] : [`svc_id://${file}`])
  }
  form.hidden = false
  await check()
}

/** @param {string} action The value of a button, such as `drop-input-2`. */
function act(action) {
  if (action === "run") return void run()
  const [, verb, kind, number] = /^(add|drop)-(input|output)-?(\d*)$/.exec(action) ?? []
  if (action === "recipe") useRecipe()
  else if (kind === "input" || kind === "output") changeRows(kind, verb === "add" ? null : number)
  void check()
}

/** Shows the chosen recipe with files for its inputs, in their order. */
function useRecipe(references = readRows("input").map(({ value }) => value)) {
  const recipe = recipes.find(({ id }) => id === recipeField.value)
  if (recipe) show(recipe, references)
}

/**
 * @param {CommandBody} body
 * @param {string[]} references Files in place of those of the body, in their order.
 */
function show(body, references = []) {
  const inputs = rowsOf(body.input_files)
  showRows(
    "input",
    inputs.map(({ key, value }, at) => ({ key, value: references[at] ?? value })),
  )
  showRows("output", rowsOf(body.output_files))
  // A line that begins with another word would continue the line before.
  const lines = body.ffmpeg_commands?.map((line) => line.replace(/^\s*(?!\s*ffmpeg\s)/, "ffmpeg "))
  commandField.value = body.ffmpeg_command ?? lines?.join("\n") ?? ""
}

/** @returns {Row[]} */
function rowsOf(/** @type {Record<string, string>} */ files = {}) {
  return Object.entries(files).map(([key, value]) => ({ key, value }))
}

/**
 * @param {Kind} kind
 * @returns {Row[]}
 */
function readRows(kind) {
  return [...form.querySelectorAll(`[data-rows=${kind}] .row`)].map((row) => {
    const [key = "", value = ""] = [...row.querySelectorAll("input")].map((field) => field.value)
    return { key: key.trim(), value: value.trim() }
  })
}

/**
 * @param {Kind} kind
 * @param {Row[]} rows
 */
function showRows(kind, rows) {
  const template = find(HTMLTemplateElement, `[data-rows=${kind}] template`)
  for (const row of form.querySelectorAll(`[data-rows=${kind}] .row`)) row.remove()
  template.before(...rows.map((row, at) => makeRow(template, row, `${at + 1}`)))
}

/**
 * @param {HTMLTemplateElement} template
 * @param {Row} row
 * @param {string} number Takes the place of # in the template's attributes.
 */
function makeRow(template, { key, value }, number) {
  const made = document.importNode(template.content, true)
  for (const { attributes } of made.querySelectorAll("*")) {
    for (const attribute of attributes) attribute.value = attribute.value.replace("#", number)
  }
  for (const [at, field] of made.querySelectorAll("input").entries()) {
    field.value = at === 0 ? key : value
  }
  return made
}

/**
 * Adds a row, or drops the one of a number; the focus stays at the rows.
 * @param {Kind} kind
 * @param {string | null | undefined} dropped
 */
function changeRows(kind, dropped) {
  const rows = readRows(kind)
  const prefix = kind === "input" ? "in" : "out"
  let number = 1
  while (rows.some(({ key }) => key === `${prefix}_${number}`)) number += 1
  const isAdded = dropped === null
  const added = { key: `${prefix}_${number}`, value: "" }
  showRows(kind, isAdded ? [...rows, added] : rows.toSpliced(Number(dropped) - 1, 1))
  const buttons = form.querySelectorAll(`[data-rows=${kind}] :is(.key, [value^=add])`)
  const focused = [...buttons].at(isAdded ? -2 : -1)
  if (focused instanceof HTMLElement) focused.focus()
}

/**
 * Puts an uploaded file into the first input that has none.
 * @param {{ id: string, name: string }} file
 */
function choose({ id, name }) {
  const option = new Option(name, `svc_id://${id}`)
  option.dataset["name"] = name
  find(HTMLDataListElement, "#known-files").prepend(option)
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = form.querySelectorAll(".row input[list]")
  const empty = [...fields].find(({ value }) => value.trim() === "")
  if (!empty) return
  empty.value = option.value
  empty.dispatchEvent(new Event("input", { bubbles: true }))
}

/** @returns {CommandBody} */
function readBody() {
  const lines = commandField.value.split(/\n(?=[ \t]*ffmpeg\s)/).map((line) => line.trim())
  const commands = lines.filter((line) => line !== "")
  const files = { input_files: readFiles("input"), output_files: readFiles("output") }
  if (commands.length > 1) return { ...files, ffmpeg_commands: commands }
  return { ...files, ffmpeg_command: commands[0] ?? "" }
}

/** @param {Kind} kind */
function readFiles(kind) {
  const filled = readRows(kind).filter(({ key, value }) => key || value)
  return Object.fromEntries(filled.map(({ key, value }) => [key, value]))
}

/** Shows what is wrong with the command and what would run; a newer check stops an older one. */
async function check() {
  checking?.abort()
  const { signal } = (checking = new AbortController())
  const body = readBody()
  find(HTMLElement, "#curl").replaceChildren(
    makeCode("Command that sends this to the API", curlOf(body)),
  )
  const answer = await post("/commands/validate", body, { signal })
  if (answer) showFaults(answer.errors ?? faultsOf(answer), answer.commands ?? [])
}

/** Runs the command once, also where a browser sends a request again after a lost connection. */
async function run() {
  if (isRunning) return
  isRunning = true
  checking?.abort()
  const once = [...crypto.getRandomValues(new Uint8Array(16))].join(".")
  const answer = await post("/commands", readBody(), { headers: { "idempotency-key": once } })
  isRunning = false
  if (!answer) return
  if (!answer.command_id) {
    showFaults(faultsOf(answer), [])
    return tell("The command cannot be run")
  }
  history.replaceState(null, "", `${location.pathname}?job=${answer.command_id}`)
  tell("The command runs as a job")
  document.addEventListener("page:shown", scrollToResult, { once: true })
  document.dispatchEvent(new Event("page:stale"))
}

function scrollToResult() {
  find(HTMLElement, "#result").scrollIntoView({ block: "nearest" })
}

/**
 * Asks the API by the session of the page, which leads to the sign-in where it has ended; null
 * where there is no answer.
 * @param {string} path
 * @param {CommandBody} body
 * @param {{ signal?: AbortSignal, headers?: Record<string, string> }} init
 * @returns {Promise<Answer | null>}
 */
async function post(path, body, init) {
  const headers = { ...init.headers, "content-type": "application/json" }
  const request = { ...init, method: "POST", headers, body: JSON.stringify(body) }
  try {
    const answer = await fetch(`/v1${path}`, request)
    if (answer.status === 401) location.reload()
    /** @type {Answer} */
    const said = await answer.json()
    return said
  } catch (error) {
    if (!init.signal?.aborted) tell(`This did not reach the service: ${String(error)}`)
    return null
  }
}

/**
 * @param {{ message: string, details?: Fault[] }} problem
 * @returns {Fault[]}
 */
function faultsOf({ message, details = [] }) {
  return details.length > 0 ? details : [{ field: "", message }]
}

/**
 * @param {Fault[]} told
 * @param {string[][]} commands Words of the commands that would run.
 */
function showFaults(told, commands) {
  const left = [...takeRowFaults("input", told), ...takeRowFaults("output", told)]
  const ofRows = new Set(left)
  const others = told.filter((fault) => !ofRows.has(fault))
  const ofCommand = others.filter(({ field }) => field.startsWith("ffmpeg_command"))
  setFault("command", ofCommand.map(sayLine))
  const isValid = left.length + others.length === 0
  const notices = others
    .filter((fault) => !ofCommand.includes(fault))
    .map(({ field, message }) => {
      return makeText("div", "notice bad", field ? `${field}: ${message}` : message)
    })
  const blocks = commands
    .filter((words) => words.length > 0)
    .map((words, at) => makeCode(`Command ${at + 1} as it is run`, words.map(shellWord).join(" ")))
  const verdict = makeText("p", `verdict ${isValid ? "good" : "bad"}`, isValid ? VALID : WRONG)
  find(HTMLElement, "#check").replaceChildren(verdict, ...notices, ...blocks)
}

/**
 * Shows faults at the rows of a kind, and the names of files; answers those that it has shown.
 * @param {Kind} kind
 * @param {Fault[]} told
 */
function takeRowFaults(kind, told) {
  const rows = readRows(kind)
  return rows.flatMap(({ key, value }, at) => {
    const field = `${kind}_files.${key}`
    // A request has the last of them alone.
    const isTwice = key !== "" && rows.filter((row) => row.key === key).length > 1
    const twice = isTwice ? [{ field, message: "this key stands twice" }] : []
    const own = [...twice, ...told.filter((fault) => fault.field === field)]
    const isMissing = kind === "input" && value === ""
    const messages = own.map(({ message }) =>
      isMissing ? "choose a file, or give a URL" : message,
    )
    setFault(`${kind}-${at + 1}`, messages.slice(0, 1))
    find(HTMLElement, `#note-${kind}-${at + 1}`).textContent = nameOf(value)
    return own
  })
}

/** @param {Fault} fault */
function sayLine({ field, message }) {
  const line = /^ffmpeg_commands\.(\d+)$/.exec(field)?.[1]
  return line === undefined ? message : `command ${Number(line) + 1}: ${message}`
}

/**
 * @param {string} name
 * @param {string[]} messages
 */
function setFault(name, messages) {
  const texts = [...new Set(messages)].map((message) => makeText("p", "", message))
  find(HTMLElement, `#error-${name}`).replaceChildren(...texts)
  for (const field of document.querySelectorAll(`[aria-describedby^="error-${name}"]`)) {
    if (messages.length > 0) field.setAttribute("aria-invalid", "true")
    else field.removeAttribute("aria-invalid")
  }
}

/** @param {string} reference */
function nameOf(reference) {
  /** @type {NodeListOf<HTMLOptionElement>} */
  const options = document.querySelectorAll("#known-files option")
  return [...options].find(({ value }) => value === reference)?.dataset["name"] ?? ""
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} text
 */
function makeText(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

/**
 * @param {string} label
 * @param {string} text
 */
function makeCode(label, text) {
  const made = document.importNode(codeTemplate.content, true)
  made.querySelector("pre")?.setAttribute("aria-label", label)
  made.querySelector("code")?.append(text)
  made.querySelector("[data-copy]")?.setAttribute("data-copy", text)
  return made
}

/** @param {CommandBody} body */
function curlOf(body) {
  return [
    `curl ${shellWord(`${location.origin}/v1/commands`)} \\`,
    `  -H "X-API-Key: $LATHE_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${shellWord(JSON.stringify(body, null, 2))}`,
  ].join("\n")
}

/** @param {string} text */
function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** @param {string} text */
function tell(text) {
  find(HTMLElement, "#announcements").textContent = text
}
