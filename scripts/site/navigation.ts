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
  "webhooks",
  "keys",
  "limits",
  "capabilities",
  "errors",
]

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
    { title: "Start", pages: ["index"] },
    { title: "Guides", pages: GUIDES.map((name) => `guide/${name}`) },
    { title: "Reference", pages: [...referencePages, "errors/index"] },
    { title: "Operate", pages: OPERATION.map((name) => `operate/${name}`) },
  ]
}
