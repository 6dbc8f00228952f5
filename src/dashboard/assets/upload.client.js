// Uploads files that the user drops on the page or selects, several at a time. The uploads are
// resumable: they continue after a lost connection, and after a reload of the page as soon as the user
// selects the file again. Dispatches the event `file:uploaded` after each upload.
const AT_ONCE_MAX = 2
/** Time over which the upload rate is averaged, in milliseconds. */
const RATE_MS = 4000
/** Pauses in milliseconds between tries of an upload that makes no progress. */
const RETRY_PAUSES_MS = [0, 1000, 3000, 5000, 10_000, 20_000, 30_000]
/** Maximum size in bytes of a file that is sent in one request, which also creates the upload. */
const ONE_REQUEST_BYTES_MAX = 5 * 1024 * 1024
/** Time after which the service has removed every unfinished upload, in milliseconds. */
const UNFINISHED_MS_MAX = 48 * 60 * 60 * 1000

/**
 * @typedef {{ file: File, item: HTMLElement, bar: HTMLProgressElement, text: HTMLElement,
 *   transfer: import("tus-js-client").Upload | null, isAborted: boolean,
 *   samples: { at: number, sent: number }[] }} Upload
 */

/** @type {typeof import("tus-js-client")} */
const tus = Reflect.get(globalThis, "tus")
const { urlStorage } = tus.defaultOptions

const form = document.querySelector("form[data-uploader]")
const list = document.querySelector("[data-uploads]")
const chooser = form?.querySelector("input[type=file]")
/** Maximum size of a file in bytes. Larger files are refused without a request. */
const bytesMax = Number(form?.getAttribute("data-bytes-max") ?? Infinity)
/** Maximum size of a request body in bytes. */
const chunkSize = Number(form?.getAttribute("data-chunk-bytes") ?? Infinity)
/** @type {Upload[]} */
const waiting = []
/** @type {Set<Upload>} */
const running = new Set()
/**
 * Items of unfinished uploads of earlier pages, by their keys in the browser's storage.
 * @type {Map<string, HTMLElement>}
 */
const unfinished = new Map()

if (form instanceof HTMLFormElement && chooser instanceof HTMLInputElement) {
  chooser.multiple = true
  form.querySelector("button")?.remove()
  chooser.addEventListener("change", () => {
    add(chooser.files)
    chooser.value = ""
  })
  acceptDrops()
  void showUnfinished()
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
  const shown = showItem(file.name, { sizeBytes: file.size, sentBytes: 0 })
  shown.text.textContent = `${bytes(file.size)}, waiting`
  const upload = { ...shown, file, transfer: null, isAborted: false, samples: [] }
  button(shown.item, { title: "Cancel", name: file.name }, () => cancel(upload))
  return upload
}

/**
 * Adds an item to the list of uploads.
 * @param {string} fileName
 * @param {{ sizeBytes: number, sentBytes: number }} progress
 */
function showItem(fileName, { sizeBytes, sentBytes }) {
  const item = document.createElement("li")
  const name = document.createElement("bdi")
  name.textContent = fileName
  const bar = document.createElement("progress")
  bar.max = sizeBytes || 1
  bar.value = sentBytes
  bar.setAttribute("aria-label", `Upload of ${fileName}`)
  const text = document.createElement("span")
  text.className = "hint"
  item.append(name, bar, text)
  list?.append(item)
  showList()
  return { item, bar, text }
}

function showList() {
  if (list instanceof HTMLElement) list.hidden = list.childElementCount === 0
}

/**
 * Shows a button in an item, which replaces the previous button.
 * @param {HTMLElement} item
 * @param {{ title: string, name: string }} words
 * @param {() => void} act
 */
function button(item, { title, name }, act) {
  item.querySelector("button")?.remove()
  const button = document.createElement("button")
  button.type = "button"
  button.className = "button quiet"
  button.textContent = title
  button.setAttribute("aria-label", `${title}: ${name}`)
  button.addEventListener("click", act)
  item.append(button)
}

/** Lists the account's unfinished uploads that this browser began. */
async function showUnfinished() {
  const stored = await urlStorage.findAllUploads()
  for (const { creationTime, urlStorageKey } of stored) {
    const isOld = Date.parse(creationTime) < Date.now() - UNFINISHED_MS_MAX
    if (isOld) await urlStorage.removeUpload(urlStorageKey)
  }
  const answer = stored.length > 0 ? await fetch("/v1/uploads") : null
  if (!answer?.ok) return
  /** @type {{ id: string, name: string, size_bytes: number, offset_bytes: number }[]} */
  const records = await answer.json()
  for (const { uploadUrl, urlStorageKey } of stored) {
    const record = records.find(({ id }) => uploadUrl?.endsWith(`/${id}`))
    if (!record || uploadUrl === null) continue
    const { name, size_bytes: sizeBytes, offset_bytes: sentBytes } = record
    const { item, text } = showItem(name, { sizeBytes, sentBytes })
    text.textContent = `${bytes(sentBytes)} of ${bytes(sizeBytes)}; select the file again to continue.`
    unfinished.set(urlStorageKey, item)
    button(item, { title: "Discard", name }, () => {
      // If the request fails, the service removes the upload by itself later.
      tus.Upload.terminate(uploadUrl, { retryDelays: [] }).catch(() => undefined)
      void urlStorage.removeUpload(urlStorageKey)
      removeUnfinished(urlStorageKey)
    })
  }
}

/** @param {string} urlStorageKey */
function removeUnfinished(urlStorageKey) {
  unfinished.get(urlStorageKey)?.remove()
  unfinished.delete(urlStorageKey)
  showList()
}

function next() {
  while (running.size < AT_ONCE_MAX) {
    const upload = waiting.shift()
    if (!upload) break
    running.add(upload)
    const { size } = upload.file
    if (size === 0) fail(upload, "The file is empty.")
    else if (size > bytesMax) fail(upload, `The plan limits a file to ${bytes(bytesMax)}.`)
    else void send(upload)
  }
}

/**
 * Sends a file, or the remaining bytes of an interrupted upload.
 * @param {Upload} upload
 */
async function send(upload) {
  upload.samples = []
  if (!upload.transfer) {
    const transfer = makeTransfer(upload)
    upload.transfer = transfer
    const previous = await transfer.findPreviousUploads()
    const [last] = previous.toSorted((one, other) =>
      one.creationTime < other.creationTime ? 1 : -1,
    )
    if (last) {
      transfer.resumeFromPreviousUpload(last)
      removeUnfinished(last.urlStorageKey)
    }
  }
  if (!upload.isAborted) upload.transfer.start()
}

/** @param {Upload} upload */
function makeTransfer(upload) {
  const { file, text } = upload
  return new tus.Upload(file, {
    endpoint: "/v1/uploads",
    metadata: { filename: file.name, ...(file.type && { filetype: file.type }) },
    chunkSize,
    uploadDataDuringCreation: file.size <= ONE_REQUEST_BYTES_MAX,
    removeFingerprintOnSuccess: true,
    retryDelays: RETRY_PAUSES_MS,
    onShouldRetry(error) {
      const status = error.originalResponse?.getStatus() ?? 0
      const mayRetry = status === 0 || status === 409 || status === 423 || status >= 500
      if (mayRetry) text.textContent = "The upload was interrupted; it continues soon."
      return mayRetry
    },
    onProgress: (sentBytes) => move(upload, sentBytes),
    onError: (error) => fail(upload, sentence(error)),
    onSuccess: () => void finish(upload),
  })
}

/**
 * @param {Upload} upload
 * @param {number} sentBytes
 */
function move(upload, sentBytes) {
  const { file, bar, text, samples } = upload
  const now = performance.now()
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

/** @param {Upload} upload */
async function finish(upload) {
  const { file, item, bar, text, transfer } = upload
  const id = transfer?.url?.split("/").at(-1)
  const answer = await fetch(`/v1/files/${id}`).catch(() => null)
  if (!answer?.ok) return fail(upload, "The file was uploaded, but the service does not show it.")
  const record = await answer.json()
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
 * Returns the reason why an upload failed.
 * @param {Error | import("tus-js-client").DetailedError} error
 */
function sentence(error) {
  const response = "originalResponse" in error ? error.originalResponse : null
  if (!response) return "The connection was lost."
  if (response.getStatus() === 401) return "You are signed out; sign in again."
  try {
    const { message } = JSON.parse(response.getBody())
    if (typeof message === "string") return message
  } catch {
    // A proxy, not the service, sends an error whose body is not JSON.
  }
  return `The service answered with status ${response.getStatus()}.`
}

/**
 * @param {Upload} upload
 * @param {string} message
 */
function fail(upload, message) {
  const { file, item, text } = upload
  const { name } = file
  item.classList.add("is-failed")
  text.textContent = message
  announce(`${name}: ${message}`)
  button(item, { title: "Try again", name }, () => {
    item.classList.remove("is-failed")
    text.textContent = `${bytes(file.size)}, waiting`
    button(item, { title: "Cancel", name }, () => cancel(upload))
    waiting.push(upload)
    next()
  })
  over(upload)
}

/**
 * Ends an upload, and removes its bytes from the service.
 * @param {Upload} upload
 */
function cancel(upload) {
  const at = waiting.indexOf(upload)
  if (at >= 0) waiting.splice(at, 1)
  upload.item.remove()
  showList()
  upload.isAborted = true
  // If the request fails, the service removes the upload by itself later.
  upload.transfer?.abort(true).catch(() => undefined)
  over(upload)
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
