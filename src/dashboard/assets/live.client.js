// Keeps a page up to date: follows jobs by server-sent events, replaces the live parts of the page,
// and renews the expired links of players.
/** Maximum number of event streams. Browsers open six connections to an HTTP/1.1 origin. */
const STREAMS_MAX = 3
const RETRY_MS = 4000

/** @type {Map<string, EventSource>} */
const streams = new Map()
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let fetches = 0

/** Loads the page again and replaces its live parts. */
async function refresh() {
  const number = (fetches += 1)
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } })
    // A redirect means that the user is signed out.
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
 * Replaces the live parts of the page by the live parts of a newly loaded page.
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
const versions = new WeakMap()

/**
 * Replaces the content of a live part. The element itself and the focus stay, so that screen
 * readers announce the changes.
 * @param {Element} part
 * @param {Element} next
 */
function replace(part, next) {
  const html = next.innerHTML
  if ((versions.get(part) ?? part.innerHTML) === html) return
  versions.set(part, html)
  const focused = part.contains(document.activeElement) ? document.activeElement : null
  const place = focused?.id || focused?.getAttribute("name")
  part.replaceChildren(...next.childNodes)
  if (!focused) return
  const successor = place && part.querySelector(`[id="${place}"], [name="${place}"]`)
  if (successor instanceof HTMLElement) return successor.focus()
  if (!(part instanceof HTMLElement)) return
  part.tabIndex = -1
  part.focus()
}

/** Follows the open jobs of the page, polls pages with a marker, and checks which media can play. */
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
    const hint = video.parentElement?.querySelector("[data-unless-played]")
    if (hint instanceof HTMLElement) hint.hidden = false
  }
}

/** @param {string} id */
function follow(id) {
  const stream = new EventSource(`/v1/jobs/${id}/events`)
  streams.set(id, stream)
  let lastStatus = document.getElementById(`status-${id}`)?.textContent
  stream.addEventListener("progress", (event) => move(id, JSON.parse(event.data)))
  stream.addEventListener("state", (event) => {
    const job = JSON.parse(event.data)
    move(id, job)
    if (job.status === lastStatus) return
    lastStatus = job.status
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
 * Shows the progress of a running job.
 * @param {string} id
 * @param {{ progress: number | null, eta_seconds: number | null }} job
 */
function move(id, { progress, eta_seconds: eta }) {
  for (const place of document.querySelectorAll(`[data-follow="${id}"]`)) {
    const bar = place.querySelector("progress")
    // A progress element without a value is indeterminate.
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
  const line = place.querySelector(selector)
  if (line && line.textContent !== text) line.textContent = text
}

/** @param {number} seconds */
function inWords(seconds) {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

// Another script of the page dispatches this event after a change.
document.addEventListener("page:stale", () => void refresh())

// A filter applies as soon as the user selects a value.
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLSelectElement)) return
  if (target.form?.matches("[data-filters]")) target.form.requestSubmit()
})

/** Players that have started. The signed link of a file may expire during playback. */
const playing = new WeakSet()

document.addEventListener("loadedmetadata", ({ target }) => playing.add(target ?? document), true)
document.addEventListener(
  "error",
  ({ target: player }) => {
    if (!(player instanceof HTMLMediaElement) || !playing.delete(player)) return
    const { currentTime: at, paused } = player
    player.load()
    player.currentTime = at
    if (!paused) void player.play()
  },
  true,
)

start()
