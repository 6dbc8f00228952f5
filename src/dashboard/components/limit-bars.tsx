import type { Child } from "hono/jsx"
import { mapLimits } from "../../plan-fields.ts"
import type { LimitName } from "../../plan-fields.ts"
import type { AccountRecord } from "../../resources/account/record.ts"
import { formatAmount, titleOfLimit } from "./amount.ts"

/** A bar for each limit that is used up. */
export function LimitBars({ account: { limits, usage } }: { account: AccountRecord }) {
  const bars = mapLimits((_, name): Child => {
    const used = usage[name]
    return used === null ? null : <LimitBar name={name} used={used} limit={limits[name]} />
  })
  return <div class="limit-bars">{Object.values(bars)}</div>
}

/** How much of a limit is used; the text says what the bar shows. */
function LimitBar(props: { name: LimitName; used: number; limit: number }) {
  const { name, used, limit } = props
  const share = limit === 0 ? 0 : Math.min(1, used / limit)
  const percent = Math.round(share * 100)
  return (
    <div class="limit-bar">
      <p>
        <span>{titleOfLimit(name)}</span>
        <span class="limit-amount">
          <strong>{formatAmount(name, used)}</strong> of {formatAmount(name, limit)}
        </span>
      </p>
      <meter
        min={0}
        max={100}
        value={percent}
        class={toneOf(share)}
        aria-label={`${titleOfLimit(name)}: ${percent} % used`}
      ></meter>
      {share >= NEAR && (
        <p class="hint">{share >= 1 ? "The limit is reached." : `${percent} % of the limit.`}</p>
      )}
    </div>
  )
}

/** From this share on a limit is worth a word. */
const NEAR = 0.8

function toneOf(share: number): string | undefined {
  if (share >= 1) return "bad"
  return share >= NEAR ? "busy" : undefined
}
