/**
 * When media begin and end on their time line, in seconds; an end of Infinity is none. `kept` is how
 * much of that has frames, which filters that select some make less; NaN where it is not known.
 */
export type Span = { start: number; end: number; kept: number }

/** `null`: no length of its own, as a still picture. `unknown`: it may be any. */
export type Length = Span | "unknown" | null

/** The span of media that begin at 0. */
export function spanOf(seconds: number): Span {
  return { start: 0, end: seconds, kept: seconds }
}

/** What media that play beside one another span; what has no length of its own does not count. */
export function longest(lengths: readonly Length[]): Length {
  if (lengths.includes("unknown")) return "unknown"
  const spans = spansOf(lengths)
  if (spans.length === 0) return null
  return {
    start: Math.min(...spans.map(({ start }) => start)),
    end: Math.max(...spans.map(({ end }) => end)),
    kept: Math.max(...spans.map(({ kept }) => kept)),
  }
}

/** What media span that end together with the first of them that ends. */
export function shortest(lengths: readonly Length[]): Length {
  const spans = spansOf(lengths)
  return spans.length === 0
    ? longest(lengths)
    : spans.reduce((one, other) => (other.end < one.end ? other : one))
}

/** Media one behind the other. */
export function inSequence(lengths: readonly Length[]): Length {
  const spans = spansOf(lengths)
  if (spans.length < lengths.length) return spans.length === 0 ? longest(lengths) : "unknown"
  return spanOf(spans.reduce((sum, { end }) => sum + end, 0))
}

/** A span whose times are changed by a function that is linear. */
export function mapTimes({ start, end, kept }: Span, change: (seconds: number) => number): Span {
  const scale = change(1) - change(0)
  return { start: change(start), end: change(end), kept: kept * scale }
}

/** What is left of a span within two moments. */
export function cut(span: Span, from: number, to: number): Span {
  const start = Math.max(span.start, from)
  const end = Math.max(start, Math.min(span.end, to))
  const isWhole = start === span.start && end === span.end
  return { start, end, kept: isWhole ? span.kept : Math.min(span.kept, end - start) }
}

function spansOf(lengths: readonly Length[]): Span[] {
  return lengths.filter((length) => length !== null && length !== "unknown")
}
