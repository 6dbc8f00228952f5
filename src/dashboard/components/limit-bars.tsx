import type { Child } from "hono/jsx"
import { mapLimits } from "../../plan-fields.ts"
import type { AccountRecord } from "../../resources/account/record.ts"
import { LimitBar } from "./limit-bar.tsx"

/** A bar for each limit that is used up. */
export function LimitBars({ account: { limits, usage } }: { account: AccountRecord }) {
  const bars = mapLimits((_, name): Child => {
    const used = usage[name]
    return used === null ? null : <LimitBar name={name} used={used} limit={limits[name]} />
  })
  return <div class="limit-bars">{Object.values(bars)}</div>
}
