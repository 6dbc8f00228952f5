import { renderToString } from "hono/jsx/dom/server"
import { expect, test } from "vitest"
import { BarChart } from "../../src/dashboard/components/bar-chart.tsx"
import { sumUsageByDay, sumUsageByKey } from "../../src/dashboard/pages/usage.tsx"

const NOTHING = {
  requests: 0,
  jobs: 0,
  fetches: 0,
  succeeded_jobs: 0,
  failed_jobs: 0,
  processing_seconds: 0,
}

function draw(values: number[]): string {
  const bars = values.map((value, at) => ({ day: `2026-01-0${at + 1}`, value }))
  return renderToString(BarChart({ title: "Jobs", bars }))
}

test("a chart has a bar of the right height for each day", () => {
  const svg = draw([0, 5, 10])
  const heights = [...svg.matchAll(/class="chart-bar"[^>]*?height="([\d.]+)"/g)].map(([, h]) => h)
  expect(heights).toEqual(["0", "68", "136"])
})

test("a chart has a text description", () => {
  expect(draw([0, 5, 1200])).toContain('aria-label="Jobs: 1,205 in 3 days, most on Jan 3: 1,200."')
  expect(draw([0, 0])).toContain('aria-label="Jobs: none in 2 days."')
})

test("a chart has no inline style, which the policy of pages would block", () => {
  expect(draw([1, 2])).not.toContain("style=")
})

test("usage is added up by day, days without use included, and by key", () => {
  const day = { ...NOTHING, day: "2026-01-02", key_id: "a", key_name: "one", requests: 3 }
  const rows = [
    day,
    { ...day, key_id: null, key_name: null, requests: 4, jobs: 1 },
    { ...day, day: "2026-01-01", requests: 5 },
  ]
  const days = sumUsageByDay(rows, 3, Date.parse("2026-01-03T23:59:59Z"))
  expect(days.map(({ day: name, requests }) => [name, requests])).toEqual([
    ["2026-01-01", 5],
    ["2026-01-02", 7],
    ["2026-01-03", 0],
  ])
  const keys = sumUsageByKey(rows)
  expect(keys.map(({ title, requests, jobs }) => [title, requests, jobs])).toEqual([
    ["one", 8, 0],
    ["Dashboard", 4, 1],
  ])
})
