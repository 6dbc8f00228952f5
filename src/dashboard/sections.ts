/** A page of the navigation: its id, its path, its title and the shape of its icon. */
type SectionFacts = { id: string; path: `/${string}`; title: string; icon: string }

/** The pages of the navigation, in its order; icons are SVG paths in a square of 24. */
export const SECTIONS = [
  { id: "overview", path: "/", title: "Overview", icon: "M4 11l8-7 8 7v9h-5v-6H9v6H4z" },
  { id: "playground", path: "/playground", title: "Playground", icon: "M5 7l5 5-5 5m7 0h7" },
  { id: "jobs", path: "/jobs", title: "Jobs", icon: "M4 6h16M4 12h10M4 18h6m7-4l5 3-5 3z" },
  { id: "files", path: "/files", title: "Files", icon: "M6 3h8l5 5v13H6zM14 3v5h5" },
  {
    id: "webhooks",
    path: "/webhooks",
    title: "Webhooks",
    icon: "M9 8a3 3 0 116 0c0 2-2 3-3 5l-4 4m8 0H9M6 14a3 3 0 102 5m8-8a4 4 0 110 6",
  },
  {
    id: "keys",
    path: "/keys",
    title: "API keys",
    icon: "M8 19a4 4 0 110-8 4 4 0 010 8zm3-6l8-8m-4 4l3 3",
  },
  { id: "usage", path: "/usage", title: "Usage and plan", icon: "M5 20v-7m7 7V4m7 16v-10" },
  {
    id: "settings",
    path: "/settings",
    title: "Settings",
    icon: "M4 7h9m6 0h1M4 17h1m6 0h9M16 4v6M8 14v6",
  },
] as const satisfies readonly SectionFacts[]

/** The operator's pages. */
export const OPERATOR_SECTIONS = [
  {
    id: "accounts",
    path: "/operate/accounts",
    title: "Accounts",
    icon: "M9 11a4 4 0 110-8 4 4 0 010 8zm-7 9a7 7 0 0114 0m0-17a4 4 0 010 8m2 2a7 7 0 014 7",
  },
  { id: "plans", path: "/operate/plans", title: "Plans", icon: "M12 3l9 5-9 5-9-5zm-9 9l9 5 9-5" },
  { id: "health", path: "/operate/health", title: "Health", icon: "M3 12h4l3-8 4 16 3-8h4" },
  {
    id: "dead-letters",
    path: "/operate/dead-letters",
    title: "Dead letters",
    icon: "M3 6h18v13H3zm0 1l9 7 9-7",
  },
] as const satisfies readonly SectionFacts[]

export type Section = (typeof SECTIONS | typeof OPERATOR_SECTIONS)[number]["id"]
