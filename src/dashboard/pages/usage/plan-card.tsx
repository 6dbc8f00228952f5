import { LIMIT_FIELDS, mapLimits } from "../../../plan-fields.ts"
import type { LimitName } from "../../../plan-fields.ts"
import type { AccountRecord } from "../../../resources/account/record.ts"
import { formatAmount, titleOfLimit } from "../../components/amount.ts"
import { Badge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { Facts } from "../../components/facts.tsx"
import { LimitBars } from "../../components/limit-bars.tsx"

/** The limits of the plan: those that are used up as bars, the others as facts. */
export function PlanCard({ account }: { account: AccountRecord }) {
  const { limits, usage, plan } = account
  const others = limitNames()
    .filter((name) => usage[name] === null)
    .map((name) => [titleOfLimit(name), <Bound name={name} limit={limits[name]} />] as const)
  return (
    <Card title="Plan and limits" actions={<Badge tone="idle">{plan}</Badge>}>
      <LimitBars account={account} />
      <Facts rows={others} />
      <p class="soft">
        More is a matter of the plan, which the operator of this service sets. Ask for another one
        and name the account <code>{account.id}</code>.
      </p>
    </Card>
  )
}

function Bound({ name, limit }: { name: LimitName; limit: number }) {
  return (
    <>
      at most {formatAmount(name, limit)} <span class="hint">{LIMIT_FIELDS[name].meaning}</span>
    </>
  )
}

function limitNames(): LimitName[] {
  return Object.values(mapLimits((_, name) => name))
}
