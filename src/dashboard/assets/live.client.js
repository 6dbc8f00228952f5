// Keeps a page up to date: follows jobs and batches by server-sent events, replaces the live parts of the page,
// and renews the expired links of players.
/** Maximum number of event streams. Browsers open six connections to an HTTP/1.1 origin. */
const STREAMS_MAX = 3
const RETRY_MS = 4000

/** Shortest time between two reloads of the page because of events, in milliseconds. */
const RELOAD_MS = 1000

/**
 * Open event streams by the path of their job or batch.
 * @type {Map<string, EventSource>}
 */
const streams = new Map()
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
let dueAtMs = Infinity
let fetches = 0
let fetchedAtMs = -RELOAD_MS

/** Loads the page again and replaces its live parts. */
async function refresh() {
  const number = (fetches += 1)
  fetchedAtMs = performance.now()
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

/**
 * Loads the page again after a time, or earlier if that is scheduled.
 * @param {number} ms
 */
function schedule(ms) {
  const atMs = performance.now() + ms
  if (atMs >= dueAtMs) return
  dueAtMs = atMs
  clearTimeout(timer)
  timer = setTimeout(() => {
    dueAtMs = Infinity
    if (document.hidden) schedule(ms)
    else void refresh()
  }, ms)
}

/** Loads the page again at once, or a second after the last time: a batch has many events. */
function refreshSoon() {
  const waitMs = fetchedAtMs + RELOAD_MS - performance.now()
  if (waitMs > 0) schedule(waitMs)
  else void refresh()
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

/**
 * Follows the open jobs or the open batch of the page, polls pages with a marker, and checks which
 * media can play.
 */
function start() {
  /** @type {NodeListOf<HTMLElement>} */
  const followed = document.querySelectorAll("[data-follow], [data-follow-batch]")
  const states = new Map(
    [...followed].map(({ dataset: { follow: job, followBatch, state } }) => {
      return [job === undefined ? `batches/${followBatch}` : `jobs/${job}`, state]
    }),
  )
  for (const [path, stream] of streams) if (!states.has(path)) end(path, stream)
  for (const [path, state] of states) {
    if (!streams.has(path) && streams.size < STREAMS_MAX) follow(path, state)
  }
  const poll = document.querySelector("[data-poll]")?.getAttribute("data-poll")
  if (poll) schedule(Number(poll) * 1000)
  for (const video of document.querySelectorAll("video[data-needs]")) {
    if (!(video instanceof HTMLVideoElement) || video.canPlayType(video.dataset["needs"] ?? ""))
      continue
    const hint = video.parentElement?.querySelector("[data-unless-played]")
    if (hint instanceof HTMLElement) hint.hidden = false
  }
}

/**
 * Record of a job or a batch in an event.
 * @typedef {{
 *   id: string, status: string, progress: number | null, completed_at: string | null,
 *   eta_seconds?: number | null, waiting_for?: string[], open_jobs?: number,
 *   started_at?: string | null, jobs?: Record<string, FollowedRecord>,
 * }} FollowedRecord
 */

/**
 * Follows a job or a batch by its events.
 * @param {string} path
 * @param {string | undefined} shownState
 */
function follow(path, shownState) {
  const stream = new EventSource(`/v1/${path}/events`)
  streams.set(path, stream)
  let lastState = shownState
  stream.addEventListener("progress", (event) => move(JSON.parse(event.data)))
  stream.addEventListener("state", (event) => {
    const record = JSON.parse(event.data)
    move(record)
    const state = stateOf(record)
    if (state === lastState) return
    lastState = state
    if (record.completed_at) end(path, stream)
    refreshSoon()
  })
  stream.addEventListener("error", () => {
    if (stream.readyState !== EventSource.CLOSED) return
    end(path, stream)
    schedule(RETRY_MS)
  })
}

/**
 * Returns what the page writes as `data-state`: the counts of a batch's jobs that are open and that
 * have started, or the status of a job and the count of the jobs that it waits for.
 * @param {FollowedRecord} record
 */
function stateOf({ status, waiting_for: awaited = [], open_jobs: open, jobs }) {
  if (!jobs) return `${status} ${awaited.length}`
  return `${open} ${Object.values(jobs).filter((job) => job.started_at).length}`
}

/**
 * @param {string} path
 * @param {EventSource} stream
 */
function end(path, stream) {
  stream.close()
  streams.delete(path)
}

/**
 * Shows the progress of an open job, or of an open batch and its open jobs.
 * @param {FollowedRecord} record
 */
function move({ id, progress, eta_seconds: eta = null, jobs = {} }) {
  for (const place of document.querySelectorAll(`[data-progress="${id}"]`)) {
    const bar = place.querySelector("progress")
    // A progress element without a value is indeterminate.
    if (progress === null) bar?.removeAttribute("value")
    else if (bar) bar.value = progress
    tell(place, ".progress-text", progress === null ? "…" : `${Math.floor(progress)} %`)
    tell(place, "[data-eta]", eta === null ? "" : `${inWords(eta)} left`)
  }
  for (const job of Object.values(jobs)) move(job)
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
