import { describe, expect, test } from "vitest"
import { didYouMean, nearestName } from "../../src/suggest.ts"

const NAMES = ["scale", "setpts", "pix_fmt", "libx264", "libx265", "movflags", "preset", "h"]

describe("the nearest name", () => {
  test.for<[string, string | null]>([
    ["scael", "scale"],
    ["scal", "scale"],
    ["sclae", "scale"],
    ["SCALE", "scale"],
    ["pixfmt", "pix_fmt"],
    ["pix-fmt", "pix_fmt"],
    ["libx246", "libx264"],
    ["lib264", "libx264"],
    ["libx26", "libx264"],
    ["mvflgs", "movflags"],
    ["setptspts", "setpts"],
    ["xyz", null],
    ["i", null],
    ["", null],
    ["s".repeat(65), null],
    ["İ".repeat(64), null],
  ])("of %s", ([word, name]) => {
    expect(nearestName(word, NAMES)).toBe(name)
  })

  test("counts letters that are inserted, left out, replaced and swapped", () => {
    for (const word of slips(2000)) {
      const nearest = nearestName(word, NAMES)
      const least = Math.max(1, Math.floor(plain(word).length / 3)) + 1
      const counted = NAMES.filter(({ length }) => Math.abs(length - word.length) <= least + 2)
        .map((name) => ({ name, edits: edits(plain(word), plain(name)) }))
        .toSorted((one, other) => one.edits - other.edits)
      const [best] = counted
      const isNear = best && best.edits < least && best.edits < plain(word).length
      expect([word, nearest]).toEqual([word, isNear ? best.name : null])
    }
  })

  test("is told as one that was meant", () => {
    expect(didYouMean("scael", NAMES)).toBe("; did you mean `scale`?")
    expect(didYouMean("xyz", NAMES)).toBe("")
  })
})

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, "")
}

/** Words that differ from names by some letters, always the same ones. */
function slips(count: number): string[] {
  let seed = 1
  function draw(most: number): number {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % most
  }
  return Array.from({ length: count }, () => {
    let word = NAMES[draw(NAMES.length)] ?? ""
    for (let slip = draw(5); slip > 0; slip -= 1) {
      const at = draw(word.length + 1)
      const [left, letter, right] = [word.slice(0, at), "aelpst2_"[draw(8)] ?? "", word.slice(at)]
      const swapped = right.slice(1, 2) + right.slice(0, 1) + right.slice(2)
      word = left + ([letter + right, right.slice(1), letter + right.slice(1)][draw(4)] ?? swapped)
    }
    return word
  })
}

/** The same number by its definition. */
function edits(one: string, other: string): number {
  const known = new Map<string, number>()
  function count(left: number, right: number): number {
    if (left === 0 || right === 0) return left + right
    const key = `${left} ${right}`
    const found = known.get(key)
    if (found !== undefined) return found
    const replaced = count(left - 1, right - 1) + (one[left - 1] === other[right - 1] ? 0 : 1)
    const isSwap = one[left - 1] === other[right - 2] && one[left - 2] === other[right - 1]
    const swapped = left > 1 && right > 1 && isSwap ? count(left - 2, right - 2) + 1 : replaced
    const least = Math.min(
      count(left - 1, right) + 1,
      count(left, right - 1) + 1,
      replaced,
      swapped,
    )
    known.set(key, least)
    return least
  }
  return count(one.length, other.length)
}
