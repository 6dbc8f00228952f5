// Uploads files that the user drops on the page or selects, several at a time. Dispatches the event
// `file:uploaded` after each upload.
const AT_ONCE_MAX = 2
/** Time over which the upload rate is averaged, in milliseconds. */
const RATE_MS = 4000

/**
 * @typedef {{ file: File, item: HTMLElement, bar: HTMLProgressElement, text: HTMLElement,
 *   request: XMLHttpRequest | null, samples: { at: number, sent: number }[] }} Upload
 */

const form = document.querySelector("form[data-uploader]")
const list = document.querySelector("[data-uploads]")
const chooser = form?.querySelector("input[type=file]")
/** Maximum size of a file. Larger files are refused without a request. */
const bytesMax = Number(form?.getAttribute("data-bytes-max") ?? Infinity)
/** @type {Upload[]} */
const waiting = []
/** @type {Set<Upload>} */
const running = new Set()

if (form instanceof HTMLFormElement && chooser instanceof HTMLInputElement) {
  chooser.multiple = true
  form.querySelector("button")?.remove()
  chooser.addEventListener("change", () => {
    add(chooser.files)
    chooser.value = ""
  })
  acceptDrops()
}

function acceptDrops() {
  let depth = 0
  /** @param {number} change */
  function enter(change) {
    depth = change === 0 ? 0 : depth + change
    document.body.classList.toggle("is-dropping", depth > 0)
  }
  /** @type {[string, number][]} */
  const changes = [
    ["dragenter", 1],
    ["dragleave", -1],
  ]
  for (const [name, change] of changes) {
    document.addEventListener(name, (event) => {
      if (event instanceof DragEvent && hasFiles(event)) enter(change)
    })
  }
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event)) event.preventDefault()
  })
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    enter(0)
    add(event.dataTransfer?.files ?? null)
  })
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return event.dataTransfer?.types.includes("Files") ?? false
}

/** @param {FileList | null} files */
function add(files) {
  for (const file of files ?? []) waiting.push(makeItem(file))
  next()
}

/**
 * @param {File} file
 * @returns {Upload}
 */
function makeItem(file) {
  const item = document.createElement("li")
  const name = document.createElement("bdi")
  name.textContent = file.name
  const bar = document.createElement("progress")
  bar.max = file.size || 1
  bar.value = 0
  bar.setAttribute("aria-label", `Upload of ${file.name}`)
  const text = document.createElement("span")
  text.className = "hint"
  text.textContent = `${bytes(file.size)}, waiting`
  item.append(name, bar, text)
  const upload = { file, item, bar, text, request: null, samples: [] }
  button(upload, "Cancel", () => cancel(upload))
  if (list instanceof HTMLElement) {
    list.hidden = false
    list.append(item)
  }
  return upload
}

/**
 * Shows a button for an upload, which replaces the previous button.
 * @param {Upload} upload
 * @param {string} title
 * @param {() => void} act
 */
function button({ file, item }, title, act) {
  item.querySelector("button")?.remove()
  const button = document.createElement("button")
  button.type = "button"
  button.className = "button quiet"
  button.textContent = title
  button.setAttribute("aria-label", `${title}: ${file.name}`)
  button.addEventListener("click", act)
  item.append(button)
}

function next() {
  while (running.size < AT_ONCE_MAX) {
    const upload = waiting.shift()
    if (!upload) break
    running.add(upload)
    if (upload.file.size <= bytesMax) send(upload)
    else fail(upload, `The plan limits a file to ${bytes(bytesMax)}.`)
  }
}

/** @param {Upload} upload */
function send(upload) {
  const request = new XMLHttpRequest()
  const body = new FormData()
  body.append("file", upload.file)
  upload.request = request
  upload.samples = [{ at: performance.now(), sent: 0 }]
  request.upload.addEventListener("progress", ({ loaded }) => move(upload, loaded))
  request.addEventListener("load", () => finish(upload, request))
  request.addEventListener("error", () => fail(upload, "The connection was lost."))
  request.addEventListener("abort", () => over(upload))
  request.open("POST", "/v1/files")
  request.send(body)
}

/**
 * @param {Upload} upload
 * @param {number} loaded Sent bytes of the request body.
 */
function move(upload, loaded) {
  const { file, bar, text, samples } = upload
  const now = performance.now()
  const sentBytes = Math.min(loaded, file.size)
  bar.value = sentBytes
  samples.push({ at: now, sent: sentBytes })
  while ((samples[1]?.at ?? now) < now - RATE_MS) samples.shift()
  const [first = { at: now, sent: sentBytes }] = samples
  const rate = ((sentBytes - first.sent) / Math.max(1, now - first.at)) * 1000
  const remaining =
    rate > 0 ? `, ${bytes(rate)}/s, ${seconds((file.size - sentBytes) / rate)} left` : ""
  text.textContent =
    sentBytes < file.size
      ? `${bytes(sentBytes)} of ${bytes(file.size)}${remaining}`
      : "Sent; the service stores the file."
}

/**
 * @param {Upload} upload
 * @param {XMLHttpRequest} request
 */
function finish(upload, request) {
  if (request.status !== 201) return fail(upload, sentence(request))
  const { file, item, bar, text } = upload
  const record = JSON.parse(request.responseText)
  bar.remove()
  item.querySelector("button")?.remove()
  text.textContent = `${bytes(file.size)}, uploaded`
  const link = document.createElement("a")
  link.href = `/files/${record.id}`
  link.textContent = record.name
  item.querySelector("bdi")?.replaceChildren(link)
  document.dispatchEvent(new CustomEvent("file:uploaded", { detail: record }))
  announce(`${record.name} was uploaded`)
  over(upload)
}

/**
 * Returns the reason why the service refused a file.
 * @param {XMLHttpRequest} request
 */
function sentence(request) {
  if (request.status === 401) return "You are signed out; sign in again."
  try {
    const { message } = JSON.parse(request.responseText)
    if (typeof message === "string") return message
  } catch {
    // A proxy, and not the service, sends a body that is not JSON.
  }
  return `The service answered with status ${request.status}.`
}

/**
 * @param {Upload} upload
 * @param {string} message
 */
function fail(upload, message) {
  const { file, item, bar, text } = upload
  bar.value = 0
  item.classList.add("is-failed")
  text.textContent = message
  announce(`${file.name}: ${message}`)
  button(upload, "Try again", () => {
    item.classList.remove("is-failed")
    text.textContent = `${bytes(file.size)}, waiting`
    button(upload, "Cancel", () => cancel(upload))
    waiting.push(upload)
    next()
  })
  over(upload)
}

/** @param {Upload} upload */
function cancel(upload) {
  const at = waiting.indexOf(upload)
  if (at >= 0) waiting.splice(at, 1)
  upload.item.remove()
  if (list instanceof HTMLElement) list.hidden = list.childElementCount === 0
  upload.request?.abort()
}

/** @param {Upload} upload */
function over(upload) {
  running.delete(upload)
  if (running.size + waiting.length === 0) document.dispatchEvent(new Event("page:stale"))
  next()
}

addEventListener("beforeunload", (event) => {
  if (running.size + waiting.length > 0) event.preventDefault()
})

/** @param {string} text */
function announce(text) {
  const place = document.getElementById("announcements")
  if (place) place.textContent = text
}

/** @param {number} count */
function bytes(count) {
  const power = count < 1 ? 0 : Math.min(4, Math.floor(Math.log2(count) / 10))
  const value = count / 1024 ** power
  const digits = power > 0 && value < 10 ? 1 : 0
  return `${value.toFixed(digits).replace(/\.0$/, "")} ${["B", "KB", "MB", "GB", "TB"][power]}`
}

/** @param {number} count */
function seconds(count) {
  const whole = Math.ceil(count)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
