// Fills the form of the playground, checks its command by the API while the user types, and runs the
// command. live.client.js follows the job.

/**
 * Body of POST /v1/commands, and a row of the form: `value` is a file or URL of an input, or the
 * name of an output.
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
const VALID = "The command is valid."
const WRONG = "The command has errors; each field shows its own."

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
  const element = document.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`The page has no ${selector}.`)
  return element
}

/** Fills the form with the job, the recipe or the file in the URL of the page. */
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

/**
 * Fills the form with the selected recipe. The inputs of the recipe keep the files of the form, in
 * order.
 */
function useRecipe(references = readRows("input").map(({ value }) => value)) {
  const recipe = recipes.find(({ id }) => id === recipeField.value)
  if (recipe) show(recipe, references)
}

/**
 * @param {CommandBody} body
 * @param {string[]} references Files that replace those of the body, in order.
 */
function show(body, references = []) {
  const inputs = rowsOf(body.input_files)
  showRows(
    "input",
    inputs.map(({ key, value }, at) => ({ key, value: references[at] ?? value })),
  )
  showRows("output", rowsOf(body.output_files))
  // A line that does not begin with ffmpeg continues the previous line.
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
 * @param {string} number Replaces # in the template's attributes.
 */
function makeRow(template, { key, value }, number) {
  const fragment = document.importNode(template.content, true)
  for (const { attributes } of fragment.querySelectorAll("*")) {
    for (const attribute of attributes) attribute.value = attribute.value.replace("#", number)
  }
  for (const [at, field] of fragment.querySelectorAll("input").entries()) {
    field.value = at === 0 ? key : value
  }
  return fragment
}

/**
 * Adds a row, or removes the row with a number. The focus stays in the rows.
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
 * Sets an uploaded file in the first input row without a file.
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

/** Checks the command: shows its errors and the commands that would run. Aborts an earlier check. */
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

/** Runs the command once, even if the browser repeats the request after a lost connection. */
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
    return tell("The command cannot run")
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
 * Sends a request to the API with the session of the page. Opens the sign-in page if the session
 * has expired. Returns null without a response.
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
    const body = await answer.json()
    return body
  } catch (error) {
    if (!init.signal?.aborted) tell(`The request did not reach the service: ${String(error)}`)
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
 * @param {Fault[]} faults
 * @param {string[][]} commands Arguments of the commands that would run.
 */
function showFaults(faults, commands) {
  const remaining = [...takeRowFaults("input", faults), ...takeRowFaults("output", faults)]
  const ofRows = new Set(remaining)
  const others = faults.filter((fault) => !ofRows.has(fault))
  const ofCommand = others.filter(({ field }) => field.startsWith("ffmpeg_command"))
  setFault("command", ofCommand.map(sayLine))
  const isValid = remaining.length + others.length === 0
  const notices = others
    .filter((fault) => !ofCommand.includes(fault))
    .map(({ field, message }) => {
      return makeText("div", "notice bad", field ? `${field}: ${message}` : message)
    })
  const blocks = commands
    .filter((words) => words.length > 0)
    .map((words, at) =>
      makeCode(`Command ${at + 1} as it will run`, words.map(shellWord).join(" ")),
    )
  const verdict = makeText("p", `verdict ${isValid ? "good" : "bad"}`, isValid ? VALID : WRONG)
  find(HTMLElement, "#check").replaceChildren(verdict, ...notices, ...blocks)
}

/**
 * Shows errors and file names in the rows of a kind. Returns the errors that have a row.
 * @param {Kind} kind
 * @param {Fault[]} faults
 */
function takeRowFaults(kind, faults) {
  const rows = readRows(kind)
  return rows.flatMap(({ key, value }, at) => {
    const field = `${kind}_files.${key}`
    // Of rows with the same key, the request contains only the last.
    const isTwice = key !== "" && rows.filter((row) => row.key === key).length > 1
    const twice = isTwice ? [{ field, message: "another row has this key" }] : []
    const own = [...twice, ...faults.filter((fault) => fault.field === field)]
    const isMissing = kind === "input" && value === ""
    const messages = own.map(({ message }) =>
      isMissing ? "choose a file, or enter a URL" : message,
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
  const fragment = document.importNode(codeTemplate.content, true)
  fragment.querySelector("pre")?.setAttribute("aria-label", label)
  fragment.querySelector("code")?.append(text)
  fragment.querySelector("[data-copy]")?.setAttribute("data-copy", text)
  return fragment
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
