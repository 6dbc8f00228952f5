/** Part of the navigation: a title, and the paths of its pages in order. */
export type Section = { title: string; pages: readonly string[] }

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

/** Order of the pages of each section, by the folder of the pages; pages that it lacks follow. */
const SECTIONS = [
  { title: "Start", folder: "", order: ["index", "start"] },
  { title: "Guides", folder: "guide/", order: GUIDES },
  { title: "Cookbook", folder: "cookbook/", order: ["index", ...RECIPES] },
  { title: "Reference", folder: "reference/", order: ["index"] },
  { title: "Coming from", folder: "coming-from/", order: SERVICES },
  { title: "Operate", folder: "operate/", order: OPERATION },
]

/** Page of the reference that lists all error codes; the pages of single codes are not listed. */
const ERRORS = "errors/index"

/** Makes the navigation of the site from the paths of its pages. */
export function makeSections(paths: readonly string[]): Section[] {
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
