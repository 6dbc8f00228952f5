const BROWSERS = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|Chromium|CriOS)\//],
  ["Safari", /\bSafari\//],
  ["curl", /^curl\//],
] as const

const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
] as const

/** What signed in, by its User-Agent, in words that its owner knows: `Firefox on Linux`. */
export function describeDevice(userAgent: string | null | undefined): string {
  const text = userAgent ?? ""
  const browser = BROWSERS.find(([, pattern]) => pattern.test(text))?.[0] ?? "Unknown browser"
  const system = SYSTEMS.find(([, pattern]) => pattern.test(text))?.[0]
  return system === undefined ? browser : `${browser} on ${system}`
}
