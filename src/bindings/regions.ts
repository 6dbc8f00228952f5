/** Location hints of Durable Objects in Cloudflare's spelling, which the setting REGION accepts. */
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
  /** Nearest location hint of D1 and R2, which support fewer locations than Durable Objects. */
  storage: "wnam" | "enam" | "weur" | "eeur" | "apac" | "oc"
  /** Region name for the placement of containers. */
  containers: "WNAM" | "ENAM" | "SAM" | "WEUR" | "EEUR" | "APAC" | "OC" | "AFR" | "ME"
}

/** Names of each region in Cloudflare's settings for storage and containers. */
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
