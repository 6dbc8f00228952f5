import type { DeliveryRecord } from "../../../api/routes/webhooks/record.ts"
import { StatusBadge } from "../../components/badge.tsx"
import { Card } from "../../components/card.tsx"
import { Table } from "../../components/table.tsx"
import { RelativeTime } from "../../components/time.tsx"
import { describeLastReceiverResponse } from "./delivery-list.tsx"

/** Card with the webhook deliveries of a job or a batch. */
export function DeliveryCard(props: { of: "job" | "batch"; deliveries: DeliveryRecord[] }) {
  return (
    <Card title="Webhook deliveries" actions={<a href="/webhooks">All deliveries</a>}>
      <Table
        caption={`Webhook deliveries of the ${props.of}`}
        columns={["Status", "URL", { title: "Tries", isNumeric: true }, "Last answer", "Created"]}
        rows={props.deliveries.map(({ status, url, tries, created_at: createdAt }) => [
          <StatusBadge status={status} />,
          <bdi>{url}</bdi>,
          tries.length,
          describeLastReceiverResponse(tries),
          <RelativeTime at={createdAt} />,
        ])}
      />
    </Card>
  )
}
