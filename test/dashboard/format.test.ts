import { describe, expect, test } from "vitest"
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatRelativeTime,
} from "../../src/dashboard/components/format.ts"

describe("amounts have readable units", () => {
  test.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KB"],
    [1536, "1.5 KB"],
    [10 * 1024 ** 2, "10 MB"],
    [5 * 1024 ** 3, "5 GB"],
    [10_240 * 1024 ** 3, "10 TB"],
    [5000 * 1024 ** 5, "5000 PB"],
    [Infinity, "unlimited"],
  ])("%d bytes", (bytes, text) => expect(formatBytes(bytes)).toBe(text))

  test.each([
    [0, "0 s"],
    [0.0004, "1 ms"],
    [0.25, "250 ms"],
    [12.44, "12.4 s"],
    [59.99, "59.9 s"],
    [60, "1 min"],
    [305, "5 min 5 s"],
    [3599.7, "1 h"],
    [3900, "1 h 5 min"],
    [86_399, "1 d"],
    [90_000, "1 d 1 h"],
    [Infinity, "unlimited"],
  ])("%d seconds", (seconds, text) => expect(formatDuration(seconds)).toBe(text))

  test.each([
    [0, "0"],
    [20_000, "20,000"],
    [Infinity, "unlimited"],
  ])("%d", (count, text) => expect(formatCount(count)).toBe(text))

  test.each([
    [0, "just now"],
    [-59, "just now"],
    [30, "in less than a minute"],
    [-60, "1 minute ago"],
    [-7300, "2 hours ago"],
    [86_400 * 3, "in 3 days"],
    [-86_400 * 40, "1 month ago"],
    [-86_400 * 800, "2 years ago"],
  ])("%d seconds from now", (seconds, text) => {
    expect(formatRelativeTime(1_000_000_000_000 + seconds * 1000, 1_000_000_000_000)).toBe(text)
  })
})
