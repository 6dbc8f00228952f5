/** Names longer than this are no slips of one that exists. */
const LENGTH_MAX = 64

/**
 * The name that a word was most likely to be, of those that there are; null where none is near: at
 * most a third of its letters differ, and no more than `editsMax`, case, `-` and `_` aside.
 */
export function nearestName(
  word: string,
  names: Iterable<string>,
  editsMax = Number.POSITIVE_INFINITY,
): string | null {
  if (word.length > LENGTH_MAX) return null
  const plain = withoutMarks(word)
  let nearest: string | null = null
  let least = Math.min(editsMax, Math.max(1, Math.floor(plain.length / 3))) + 1
  for (const name of names) {
    if (Math.abs(name.length - word.length) > least + 2) continue
    const edits = countEdits(plain, withoutMarks(name), least)
    if (edits >= least) continue
    least = edits
    nearest = name
  }
  return least < plain.length ? nearest : null
}

/** `; did you mean X?` for the nearest name, as `show` writes it; nothing where none is near. */
export function didYouMean(
  word: string,
  names: Iterable<string>,
  show: (name: string) => string = (name) => `\`${name}\``,
): string {
  const name = nearestName(word, names)
  return name === null ? "" : `; did you mean ${show(name)}?`
}

function withoutMarks(name: string): string {
  const small = name.toLowerCase()
  return /[-_]/.test(small) ? small.replace(/[-_]/g, "") : small
}

/** Of names of `LENGTH_MAX` and half as many letters, each of which may be two as a small one. */
const ROW_LENGTH = 4 * LENGTH_MAX
/** Rows that `countEdits` fills anew each time. */
const rows = {
  before: new Uint8Array(ROW_LENGTH),
  last: new Uint8Array(ROW_LENGTH),
  line: new Uint8Array(ROW_LENGTH),
}

/**
 * Letters to insert, take out, replace or swap with the next one; `most` where it is as many. Only
 * places are looked at that are less than so many apart, since no others can be so near.
 */
function countEdits(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) >= most) return most
  let { before, last, line } = rows
  for (let place = 0; place <= other.length; place += 1) last[place] = place
  for (let row = 1; row <= one.length; row += 1) {
    const from = Math.max(1, row - most + 1)
    const to = Math.min(other.length, row + most - 1)
    const letter = one.charCodeAt(row - 1)
    const letterBefore = row > 1 ? one.charCodeAt(row - 2) : -1
    let left = from === 1 ? row : most
    let least = left
    line[from - 1] = left
    if (to < other.length) line[to + 1] = most
    for (let place = from; place <= to; place += 1) {
      const otherLetter = other.charCodeAt(place - 1)
      let edits = (last[place - 1] ?? most) + (letter === otherLetter ? 0 : 1)
      edits = Math.min(edits, left + 1, (last[place] ?? most) + 1)
      if (letterBefore === otherLetter && place > 1 && letter === other.charCodeAt(place - 2)) {
        edits = Math.min(edits, (before[place - 2] ?? most) + 1)
      }
      line[place] = edits
      left = edits
      if (edits < least) least = edits
    }
    if (least >= most) return most
    ;[before, last, line] = [last, line, before]
  }
  return Math.min(last[other.length] ?? most, most)
}
