import { describe, expect, test } from "vitest"
import { planSampleSegments } from "../../../../container/tools/quality/sample-segments.ts"

describe("sample places", () => {
  test("lie one in each of equal parts of the film", () => {
    const places = planSampleSegments(16_000, 12)
    const parts = places.map(({ first }) => Math.floor(first / 1000))
    expect(parts.toSorted((one, other) => one - other)).toEqual([...Array(16).keys()])
    for (const { first, count } of places) {
      expect(count).toBe(12)
      expect(first + count).toBeLessThanOrEqual((Math.floor(first / 1000) + 1) * 1000)
    }
  })

  test.for([1, 2, 4, 8])("are spread over the film by the first %i", (count) => {
    const firsts = planSampleSegments(16_000, 12)
      .slice(0, count)
      .map(({ first }) => first)
      .toSorted((one, other) => one - other)
    const edges = [0, ...firsts, 16_000]
    const gaps = edges.slice(1).map((edge, at) => edge - (edges[at] ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual((2 * 16_000) / (count + 1))
  })

  test("have different distances from keyframes at any interval", () => {
    for (const period of [48, 50, 60, 120, 250]) {
      const phases = planSampleSegments(16 * period * 20, 12).map(
        ({ first }) => (first % period) / period,
      )
      const quarters = new Set(phases.map((phase) => Math.floor(phase * 4)))
      expect(quarters.size, `period ${period}`).toBe(4)
    }
  })

  test("are fewer in a short film, without overlap", () => {
    const places = planSampleSegments(40, 12)
    expect(places).toHaveLength(3)
    const frames = places.flatMap(({ first, count }) =>
      Array.from({ length: count }, (_, at) => first + at),
    )
    expect(new Set(frames).size).toBe(36)
    expect(Math.max(...frames)).toBeLessThan(40)
  })

  test.for([1, 5, 12])("cover all of a film of %i frames", (frames) => {
    expect(planSampleSegments(frames, 12)).toEqual([{ first: 0, count: frames }])
  })

  test("are the start of a film of unknown duration", () => {
    expect(planSampleSegments(null, 12)).toEqual([{ first: 0, count: 12 }])
  })
})
