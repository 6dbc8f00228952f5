/** Section of the navigation: the title, and the paths of the pages in order. */
export type NavigationSection = { title: string; pages: readonly string[] }

const GUIDES = [
  "commands",
  "files",
  "uploads",
  "transcode",
  "fetch",
  "normalize",
  "transcribe",
  "jobs",
  "chains",
  "waiting",
  "events",
  "webhooks",
  "verify-webhooks",
  "publish",
  "keys",
  "limits",
  "capabilities",
  "errors",
]

const RECIPES = [
  "poster",
  "contact-sheet",
  "scene-stills",
  "gif",
  "cut",
  "join",
  "crossfade",
  "vertical",
  "watermark",
  "title",
  "captions",
  "picture-in-picture",
  "grid",
  "blur-area",
  "colors",
  "slow-motion",
  "waveform",
  "audiogram",
  "slideshow",
  "hls",
]

const SERVICES = ["rendi", "transloadit", "mux", "coconut"]

const OPERATION = [
  "one-machine",
  "deploy",
  "settings",
  "accounts",
  "observe",
  "web",
  "speech",
  "costs",
  "backup-and-upgrade",
  "sandbox",
  "ffmpeg",
  "unproven",
]

/**
 * Sections of the navigation, each with the folder and the order of its pages. Pages that `order`
 * does not name come last.
 */
const SECTIONS = [
  { title: "Start", folder: "", order: ["index", "start"] },
  { title: "Guides", folder: "guide/", order: GUIDES },
  { title: "Cookbook", folder: "cookbook/", order: ["index", ...RECIPES] },
  { title: "Reference", folder: "reference/", order: ["index"] },
  { title: "Coming from", folder: "coming-from/", order: SERVICES },
  { title: "Operate", folder: "operate/", order: OPERATION },
]

/**
 * Path of the page that lists all error codes. The navigation does not list the page of each code.
 */
const ERRORS = "errors/index"

/** Makes the navigation of the site from the paths of its pages. */
export function makeNavigationSections(paths: readonly string[]): NavigationSection[] {
  return SECTIONS.map(({ title, folder, order }) => {
    const own = paths.filter(
      (path) => path.startsWith(folder) && !path.slice(folder.length).includes("/"),
    )
    const ordered = order.map((name) => folder + name).filter((path) => own.includes(path))
    const others = own.filter((path) => !ordered.includes(path))
    const pages = [...ordered, ...others, ...(folder === "reference/" ? [ERRORS] : [])]
    return { title, pages }
  })
}
