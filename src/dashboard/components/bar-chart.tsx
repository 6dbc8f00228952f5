import { formatCount } from "./format.ts"

/** Value of one day (`YYYY-MM-DD`) in a bar chart. */
export type DayBar = { day: string; value: number }

const SIZE = { width: 400, height: 168, left: 36, top: 8, bottom: 24 }
const PLOT_HEIGHT = SIZE.height - SIZE.top - SIZE.bottom
const GAP = 0.25
const LABELS = 4

/** Bar chart as SVG, with one bar for each day. A tooltip shows the day and value of a bar. */
export function BarChart({ title, bars }: { title: string; bars: readonly DayBar[] }) {
  const top = roundUp(Math.max(1, ...bars.map(({ value }) => value)))
  const step = (SIZE.width - SIZE.left) / Math.max(1, bars.length)
  const everyNth = Math.ceil(bars.length / LABELS)
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      role="img"
      aria-label={describeBars(title, bars)}
    >
      {[0, 0.5, 1].map((share) => (
        <GridLine share={share} value={top * share} />
      ))}
      {bars.map(({ day, value }, at) => (
        <g>
          <title>{`${formatDay(day)}: ${formatCount(value)}`}</title>
          <rect
            class="chart-hit"
            x={round(SIZE.left + at * step)}
            y={SIZE.top}
            width={round(step)}
            height={PLOT_HEIGHT}
          />
          <rect
            class="chart-bar"
            x={round(SIZE.left + (at + GAP / 2) * step)}
            y={round(SIZE.top + PLOT_HEIGHT * (1 - value / top))}
            width={round(step * (1 - GAP))}
            height={round(PLOT_HEIGHT * (value / top))}
            rx={1.5}
          />
        </g>
      ))}
      {bars.map(({ day }, at) =>
        (bars.length - 1 - at) % everyNth === 0 ? (
          <text
            x={round(SIZE.left + (at + 0.5) * step)}
            y={SIZE.height - 6}
            text-anchor={at === bars.length - 1 ? "end" : "middle"}
          >
            {formatDay(day)}
          </text>
        ) : null,
      )}
    </svg>
  )
}

function GridLine({ share, value }: { share: number; value: number }) {
  const y = round(SIZE.top + PLOT_HEIGHT * (1 - share))
  return (
    <>
      <line class="chart-line" x1={SIZE.left} x2={SIZE.width} y1={y} y2={y} />
      <text x={SIZE.left - 8} y={y + 4} text-anchor="end">
        {Number.isInteger(value) ? compact.format(value) : ""}
      </text>
    </>
  )
}

const compact = new Intl.NumberFormat("en", { notation: "compact" })
const dayFormat = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" })

function formatDay(day: string): string {
  return dayFormat.format(new Date(day))
}

/** Rounds a value up to 1, 2, 5 or 10 times a power of ten, for the top of an axis. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 5].find((candidate) => candidate * power >= value) ?? 10
  return factor * power
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** Describes a chart in a sentence for screen readers. */
function describeBars(title: string, bars: readonly DayBar[]): string {
  const total = bars.reduce((sum, { value }) => sum + value, 0)
  const most = bars.reduce<DayBar | null>((a, b) => (a && a.value >= b.value ? a : b), null)
  if (most === null || total === 0) return `${title}: none in ${bars.length} days.`
  const peak = `most on ${formatDay(most.day)}: ${formatCount(most.value)}`
  return `${title}: ${formatCount(total)} in ${bars.length} days, ${peak}.`
}
