// Uploads files that are dropped anywhere on the page or chosen, several at a time. A file that was
// uploaded is told of by the event `file:uploaded`.
const AT_ONCE_MAX = 2
/** Over how long the rate is taken. */
const RATE_MS = 4000

/**
 * @typedef {{ file: File, item: HTMLElement, bar: HTMLProgressElement, text: HTMLElement,
 *   request: XMLHttpRequest | null, samples: { at: number, sent: number }[] }} Upload
 */

const form = document.querySelector("form[data-uploader]")
const list = document.querySelector("[data-uploads]")
const chooser = form?.querySelector("input[type=file]")
/** What the service would refuse is not sent to it. */
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
  text.textContent = `${bytes(file.size)}, waits`
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
 * The one button of an item.
 * @param {Upload} upload
 * @param {string} title
 * @param {() => void} act
 */
function button({ file, item }, title, act) {
  item.querySelector("button")?.remove()
  const made = document.createElement("button")
  made.type = "button"
  made.className = "button quiet"
  made.textContent = title
  made.setAttribute("aria-label", `${title}: ${file.name}`)
  made.addEventListener("click", act)
  item.append(made)
}

function next() {
  while (running.size < AT_ONCE_MAX) {
    const upload = waiting.shift()
    if (!upload) break
    running.add(upload)
    if (upload.file.size <= bytesMax) send(upload)
    else fail(upload, `A file of this account may have ${bytes(bytesMax)}.`)
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
 * @param {number} loaded bytes of the whole body
 */
function move(upload, loaded) {
  const { file, bar, text, samples } = upload
  const now = performance.now()
  const sent = Math.min(loaded, file.size)
  bar.value = sent
  samples.push({ at: now, sent })
  while ((samples[1]?.at ?? now) < now - RATE_MS) samples.shift()
  const [first = { at: now, sent }] = samples
  const rate = ((sent - first.sent) / Math.max(1, now - first.at)) * 1000
  const left = rate > 0 ? `, ${bytes(rate)}/s, ${seconds((file.size - sent) / rate)} left` : ""
  text.textContent =
    sent < file.size ? `${bytes(sent)} of ${bytes(file.size)}${left}` : "Sent; it is being stored."
}

/**
 * @param {Upload} upload
 * @param {XMLHttpRequest} request
 */
function finish(upload, request) {
  if (request.status !== 201) return fail(upload, sentence(request))
  const { file, item, bar, text } = upload
  const made = JSON.parse(request.responseText)
  bar.remove()
  item.querySelector("button")?.remove()
  text.textContent = `${bytes(file.size)}, uploaded`
  const link = document.createElement("a")
  link.href = `/files/${made.id}`
  link.textContent = made.name
  item.querySelector("bdi")?.replaceChildren(link)
  document.dispatchEvent(new CustomEvent("file:uploaded", { detail: made }))
  announce(`${made.name} was uploaded`)
  over(upload)
}

/**
 * Why the service did not take a file.
 * @param {XMLHttpRequest} request
 */
function sentence(request) {
  if (request.status === 401) return "You are signed out; sign in again."
  try {
    const { message } = JSON.parse(request.responseText)
    if (typeof message === "string") return message
  } catch {
    // What is no JSON is not of the service itself.
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
    text.textContent = `${bytes(file.size)}, waits`
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

/** @param {number} left */
function seconds(left) {
  const whole = Math.ceil(left)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
