import type { Child } from "hono/jsx"
import { buildLimitRecord } from "../../domain/plan-fields.ts"
import type { LimitName } from "../../domain/plan-fields.ts"
import type { AccountRecord } from "../../api/routes/account-record.ts"
import { formatLimitAmount, getUsageLimitTitle } from "./format.ts"

/** Bars for the limits whose usage is known, such as storage and running jobs. */
export function LimitBars({ account: { limits, usage } }: { account: AccountRecord }) {
  const bars = buildLimitRecord((_, name): Child => {
    const used = usage[name]
    return used === null ? null : <LimitBar name={name} used={used} limit={limits[name]} />
  })
  return <div class="limit-bars">{Object.values(bars)}</div>
}

/** Bar that shows the used share of a limit, with the same amounts as text. */
function LimitBar(props: { name: LimitName; used: number; limit: number }) {
  const { name, used, limit } = props
  const share = limit === 0 ? 0 : Math.min(1, used / limit)
  const percent = Math.round(share * 100)
  return (
    <div class="limit-bar">
      <p>
        <span>{getUsageLimitTitle(name)}</span>
        <span class="limit-amount">
          <strong>{formatLimitAmount(name, used)}</strong> of {formatLimitAmount(name, limit)}
        </span>
      </p>
      <meter
        min={0}
        max={100}
        value={percent}
        class={toneOf(share)}
        aria-label={`${getUsageLimitTitle(name)}: ${percent} % used`}
      ></meter>
      {share >= NEAR && (
        <p class="hint">{share >= 1 ? "The limit is reached." : `${percent} % of the limit.`}</p>
      )}
    </div>
  )
}

/** Used share of a limit from which the bar shows a warning. */
const NEAR = 0.8

function toneOf(share: number): string | undefined {
  if (share >= 1) return "bad"
  return share >= NEAR ? "busy" : undefined
}
