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

/** Navigation of the site. Pages of single error codes are not in it; their list links to them. */
export function makeSections(referencePages: readonly string[]): Section[] {
  return [
    { title: "Start", pages: ["index", "start"] },
    { title: "Guides", pages: GUIDES.map((name) => `guide/${name}`) },
    { title: "Cookbook", pages: ["index", ...RECIPES].map((name) => `cookbook/${name}`) },
    { title: "Reference", pages: [...referencePages, "errors/index"] },
    { title: "Coming from", pages: SERVICES.map((name) => `coming-from/${name}`) },
    { title: "Operate", pages: OPERATION.map((name) => `operate/${name}`) },
  ]
}
