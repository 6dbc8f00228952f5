/** Names longer than this are no slips of one that exists. */
const LENGTH_MAX = 64

/**
 * The name that a word was most likely to be, of those that there are; null where none is near: at
 * most a third of its letters differ, case, `-` and `_` aside.
 */
export function nearestName(word: string, names: Iterable<string>): string | null {
  if (word.length > LENGTH_MAX) return null
  const plain = withoutMarks(word)
  let nearest: string | null = null
  let least = Math.max(1, Math.floor(plain.length / 3)) + 1
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
  return name.toLowerCase().replace(/[-_]/g, "")
}

/** Letters to insert, take out, replace or swap with the next one; `most` where it is as many. */
function countEdits(one: string, other: string, most: number): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, place) => place)
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row]
    for (let place = 1; place <= other.length; place += 1) {
      const isSame = one[row - 1] === other[place - 1]
      const isSwap =
        row > 1 &&
        place > 1 &&
        one[row - 1] === other[place - 2] &&
        one[row - 2] === other[place - 1]
      line.push(
        Math.min(
          (last[place] ?? most) + 1,
          (line[place - 1] ?? most) + 1,
          (last[place - 1] ?? most) + (isSame ? 0 : 1),
          isSwap ? (before[place - 2] ?? most) + 1 : most,
        ),
      )
    }
    if (Math.min(...line) >= most) return most
    before = last
    last = line
  }
  return Math.min(last.at(-1) ?? most, most)
}
