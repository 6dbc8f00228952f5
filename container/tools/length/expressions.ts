import { cut, mapTimes, spanOf } from "./span.ts"
import type { Length, Span } from "./span.ts"

// The expressions of setpts and select that people write; any other may mean anything.

const NUMBER = String.raw`\(?(\d*\.?\d+)(?:/(\d*\.?\d+))?\)?`
const TIMES = String.raw`(PTS|\(?PTS-STARTPTS\)?)`
const TIMES_FACTOR = new RegExp(`^${TIMES}([*/])${NUMBER}$`)
const FACTOR_TIMES = new RegExp(`^${NUMBER}\\*${TIMES}$`)
const SHIFTED = new RegExp(String.raw`^${TIMES}(?:([+-])${NUMBER}/TB)?$`)
const BY_COUNT = /^N\/(?:\((?:FRAME_RATE|SR)\*TB\)|(?:FRAME_RATE|SR)\/TB)$/

/** A span whose frames get the times of an expression of setpts. */
export function timesOf(expression: string | undefined, span: Span): Length {
  const text = (expression ?? "PTS").replace(/\s/g, "")
  if (BY_COUNT.test(text)) return Number.isNaN(span.kept) ? "unknown" : spanOf(span.kept)
  const [, moved, sign, above, below] = SHIFTED.exec(text) ?? []
  if (moved !== undefined) {
    const by = above === undefined ? 0 : quotient(above, below) * (sign === "-" ? -1 : 1)
    return mapTimes(fromStart(moved, span), (seconds) => seconds + by)
  }
  const [, times, operator, divisor, its] = TIMES_FACTOR.exec(text) ?? []
  if (times !== undefined && divisor !== undefined) {
    const factor = quotient(divisor, its)
    return scaled(fromStart(times, span), operator === "*" ? factor : 1 / factor)
  }
  const [, number, under, scaledTimes] = FACTOR_TIMES.exec(text) ?? []
  if (number === undefined || scaledTimes === undefined) return "unknown"
  return scaled(fromStart(scaledTimes, span), quotient(number, under))
}

/** A span of which an expression of select keeps some. */
export function selectedOf(expression: string | undefined, span: Span): Length {
  const text = (expression ?? "1").replace(/\s/g, "")
  if (text === "1") return span
  const [, every] = /^not\(mod\(n,(\d+)\)\)$/.exec(text) ?? []
  if (every !== undefined) return { ...span, kept: span.kept / Math.max(1, Number(every)) }
  const [, inner] = /^not\((.*)\)$/.exec(text) ?? []
  if (inner !== undefined) {
    const left = partsOf(inner, span)
    return left === null ? some(span) : { ...span, kept: span.kept - keptOf(left) }
  }
  const parts = partsOf(text, span)
  if (parts === null) return some(span)
  return {
    start: Math.min(...parts.map(({ start }) => start)),
    end: Math.max(...parts.map(({ end }) => end)),
    kept: keptOf(parts),
  }
}

/** The parts of `between(t,1,2)+between(t,5,6)`, or of one bound or two; null for anything else. */
function partsOf(text: string, span: Span): Span[] | null {
  const bounds = /^(?:gte?\(t,([\d.]+)\))?\*?(?:lte?\(t,([\d.]+)\))?$/.exec(text)
  if (bounds) return [cut(span, Number(bounds[1] ?? 0), Number(bounds[2] ?? Infinity))]
  const parts = text.split("+").map((part) => {
    const [, from, to] = /^between\(t,([\d.]+),([\d.]+)\)$/.exec(part) ?? []
    return from === undefined ? null : cut(span, Number(from), Number(to))
  })
  const known = parts.filter((part) => part !== null)
  return known.length === parts.length ? known : null
}

/** What is left of a span of which it is not known how much. */
function some(span: Span): Span {
  return { ...span, kept: Number.NaN }
}

function keptOf(parts: readonly Span[]): number {
  return parts.reduce((sum, { start, end }) => sum + end - start, 0)
}

function fromStart(times: string, span: Span): Span {
  return times === "PTS" ? span : mapTimes(span, (seconds) => seconds - span.start)
}

function scaled(span: Span, factor: number): Length {
  return factor > 0 && factor < Infinity ? mapTimes(span, (seconds) => seconds * factor) : "unknown"
}

function quotient(above: string, below = "1"): number {
  return Number(above) / Number(below)
}
