/** Places that Durable Objects can be made at, by the names that Cloudflare has for them. */
export const REGION_NAMES = [
  "wnam",
  "enam",
  "sam",
  "weur",
  "eeur",
  "apac",
  "apac-ne",
  "apac-se",
  "oc",
  "afr",
  "me",
] as const

export type RegionName = (typeof REGION_NAMES)[number]

type Region = {
  /** The nearest place of D1 and R2, which have fewer. */
  storage: "wnam" | "enam" | "weur" | "eeur" | "apac" | "oc"
  /** Where containers may run. */
  containers: "WNAM" | "ENAM" | "SAM" | "WEUR" | "EEUR" | "APAC" | "OC" | "AFR" | "ME"
}

/** The names that other parts of Cloudflare have for a region. */
export const REGIONS: Record<RegionName, Region> = {
  wnam: { storage: "wnam", containers: "WNAM" },
  enam: { storage: "enam", containers: "ENAM" },
  sam: { storage: "enam", containers: "SAM" },
  weur: { storage: "weur", containers: "WEUR" },
  eeur: { storage: "eeur", containers: "EEUR" },
  apac: { storage: "apac", containers: "APAC" },
  "apac-ne": { storage: "apac", containers: "APAC" },
  "apac-se": { storage: "apac", containers: "APAC" },
  oc: { storage: "oc", containers: "OC" },
  afr: { storage: "weur", containers: "AFR" },
  me: { storage: "eeur", containers: "ME" },
}
