import type { DeliveryRecord } from "../../../resources/webhooks/record.ts"
import { DELIVERY_STATES } from "../../../storage/schema/states.ts"
import { faultOf } from "../../api.ts"
import type { ApiAnswer } from "../../api.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { EmptyState } from "../../components/empty-state.tsx"
import { Field, Select } from "../../components/field.tsx"
import { Notice } from "../../components/notice.tsx"
import { Table } from "../../components/table.tsx"
import { Time } from "../../components/time.tsx"
import { Guide } from "./guide.tsx"

/** The filters of the list, as the interface names them. */
export const DELIVERY_FILTERS = ["status", "job_id"] as const

/** A page of deliveries; where there never was one, what to do to get one. */
export function DeliveryList(props: {
  deliveries: ApiAnswer<DeliveryRecord[]>
  filters: URLSearchParams
  isFirstPage: boolean
  origin: string
}) {
  const { deliveries: answer, filters, isFirstPage, origin } = props
  const isWhole = filters.size === 0 && isFirstPage
  if (answer.ok && answer.value.length === 0 && isWhole) {
    return (
      <Card title="Deliveries">
        <Guide origin={origin} />
      </Card>
    )
  }
  const fault = faultOf(answer, "job_id")
  return (
    <Card title="Deliveries">
      <Filters filters={filters} fault={fault} />
      {answer.ok ? (
        <Table
          caption="Deliveries"
          columns={[
            "Type",
            "Receiver",
            "Status",
            { title: "Tries", isNumeric: true },
            "Last answer",
            "Next try",
            "Created",
          ]}
          rows={answer.value.map(rowOf)}
          empty={<NothingFound />}
        />
      ) : (
        fault === null && <Notice tone="bad">{answer.message}</Notice>
      )}
    </Card>
  )
}

function rowOf({ id, type, url, status, tries, next_try_at, created_at }: DeliveryRecord) {
  return [
    <a class="name" href={`/webhooks/${id}`}>
      {type} <code class="soft">{id.slice(-8)}</code>
    </a>,
    <span title={url}>{URL.parse(url)?.host ?? url}</span>,
    <StatusBadge status={status} />,
    tries.length,
    lastAnswer(tries),
    <Time at={next_try_at} />,
    <Time at={created_at} />,
  ]
}

/** What a receiver answered last; a dash where it was not called yet. */
export function lastAnswer(tries: DeliveryRecord["tries"]): string {
  const last = tries.at(-1)
  if (!last) return "–"
  return last.status === null ? (last.error ?? "no answer") : `status ${last.status}`
}

function Filters({ filters, fault }: { filters: URLSearchParams; fault: string | null }) {
  return (
    <form method="get" action="/webhooks" class="filters">
      <Select
        label="Status"
        name="status"
        value={filters.get("status") ?? ""}
        options={[["", "Any status"], ...DELIVERY_STATES]}
      />
      <Field
        label="Job"
        name="job_id"
        value={filters.get("job_id") ?? ""}
        placeholder="Any job, or the id of one"
        autocomplete="off"
        spellcheck={false}
        error={fault}
      />
      <button type="submit" class="button">
        Filter
      </button>
    </form>
  )
}

function NothingFound() {
  return (
    <EmptyState title="No delivery is like that">
      <p>
        <a class="button" href="/webhooks">
          Show all deliveries
        </a>
      </p>
    </EmptyState>
  )
}
