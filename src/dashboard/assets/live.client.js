// Keeps a page as of now: jobs are followed by their events, parts that are marked as live are
// brought up to date in their place, and players outlive the links that they play from.
/** Streams at once; a browser has six connections to an origin of HTTP/1.1. */
const STREAMS_MAX = 3
const RETRY_MS = 4000

/** @type {Map<string, EventSource>} */
const streams = new Map()
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let fetches = 0

/** Gets the page anew and shows what is new in it. */
async function refresh() {
  const number = (fetches += 1)
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } })
    // Who is signed out is sent to another page.
    if (answer.redirected) return location.reload()
    if (answer.status === 429 || answer.status >= 500) return schedule(RETRY_MS)
    if (answer.ok && number === fetches) show(await answer.text())
  } catch {
    schedule(RETRY_MS)
  }
}

/** @param {number} ms */
function schedule(ms) {
  clearTimeout(timer)
  timer = setTimeout(() => (document.hidden ? schedule(ms) : refresh()), ms)
}

/**
 * Shows what a page has anew in its live parts.
 * @param {string} html
 */
function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html")
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = part.isConnected ? fresh.getElementById(part.id) : null
    if (next) replace(part, next)
  }
  start()
  document.dispatchEvent(new Event("page:shown"))
}

/** @type {WeakMap<Element, string>} */
const shown = new WeakMap()

/**
 * The part itself stays, so that screen readers hear what is new in it; so does the focus.
 * @param {Element} part
 * @param {Element} next
 */
function replace(part, next) {
  const html = next.innerHTML
  if ((shown.get(part) ?? part.innerHTML) === html) return
  shown.set(part, html)
  const focused = part.contains(document.activeElement) ? document.activeElement : null
  const place = focused?.id || focused?.getAttribute("name")
  part.replaceChildren(...next.childNodes)
  if (!focused) return
  const again = place && part.querySelector(`[id="${place}"], [name="${place}"]`)
  if (again instanceof HTMLElement) return again.focus()
  if (!(part instanceof HTMLElement)) return
  part.tabIndex = -1
  part.focus()
}

/** Follows the open jobs of the page, polls where it says so, and checks what browsers can play. */
function start() {
  /** @type {NodeListOf<HTMLElement>} */
  const followed = document.querySelectorAll("[data-follow]")
  const ids = new Set([...followed].map((place) => place.dataset["follow"] ?? ""))
  for (const [id, stream] of streams) if (!ids.has(id)) end(id, stream)
  for (const id of ids) if (!streams.has(id) && streams.size < STREAMS_MAX) follow(id)
  const poll = document.querySelector("[data-poll]")?.getAttribute("data-poll")
  if (poll) schedule(Number(poll) * 1000)
  for (const video of document.querySelectorAll("video[data-needs]")) {
    if (!(video instanceof HTMLVideoElement) || video.canPlayType(video.dataset["needs"] ?? ""))
      continue
    const told = video.parentElement?.querySelector("[data-unless-played]")
    if (told instanceof HTMLElement) told.hidden = false
  }
}

/** @param {string} id */
function follow(id) {
  const stream = new EventSource(`/v1/jobs/${id}/events`)
  streams.set(id, stream)
  let seen = document.getElementById(`status-${id}`)?.textContent
  stream.addEventListener("progress", (event) => move(id, JSON.parse(event.data)))
  stream.addEventListener("state", (event) => {
    const job = JSON.parse(event.data)
    move(id, job)
    if (job.status === seen) return
    seen = job.status
    if (job.completed_at) end(id, stream)
    void refresh()
  })
  stream.addEventListener("error", () => {
    if (stream.readyState !== EventSource.CLOSED) return
    end(id, stream)
    schedule(RETRY_MS)
  })
}

/**
 * @param {string} id
 * @param {EventSource} stream
 */
function end(id, stream) {
  stream.close()
  streams.delete(id)
}

/**
 * Moves the progress of a job that runs.
 * @param {string} id
 * @param {{ progress: number | null, eta_seconds: number | null }} job
 */
function move(id, { progress, eta_seconds: eta }) {
  for (const place of document.querySelectorAll(`[data-follow="${id}"]`)) {
    const bar = place.querySelector("progress")
    // Without its value it shows that something goes on.
    if (progress === null) bar?.removeAttribute("value")
    else if (bar) bar.value = progress
    tell(place, ".progress-text", progress === null ? "…" : `${Math.floor(progress)} %`)
    tell(place, "[data-eta]", eta === null ? "" : `${inWords(eta)} left`)
  }
}

/**
 * @param {Element} place
 * @param {string} selector
 * @param {string} text
 */
function tell(place, selector, text) {
  const told = place.querySelector(selector)
  if (told && told.textContent !== text) told.textContent = text
}

/** @param {number} seconds */
function inWords(seconds) {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

// Another script of the page knows that it is out of date.
document.addEventListener("page:stale", () => void refresh())

// A filter is applied as it is chosen.
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLSelectElement)) return
  if (target.form?.matches("[data-filters]")) target.form.requestSubmit()
})

/** Players that have begun, and may ask for more under a link that has expired by then. */
const begun = new WeakSet()

document.addEventListener("loadedmetadata", ({ target }) => begun.add(target ?? document), true)
document.addEventListener(
  "error",
  ({ target: player }) => {
    if (!(player instanceof HTMLMediaElement) || !begun.delete(player)) return
    const { currentTime: at, paused } = player
    player.load()
    player.currentTime = at
    if (!paused) void player.play()
  },
  true,
)

start()
