import { Hono } from "hono"
import { z } from "zod"
import { publicOrigin } from "../../http/request.ts"
import { deliveryRecord } from "../../resources/webhooks/record.ts"
import type { DeliveryRecord } from "../../resources/webhooks/record.ts"
import { secretRecord } from "../../resources/webhooks/secret.ts"
import { valueOf } from "../api.ts"
import type { ApiAnswer } from "../api.ts"
import { Pager } from "../components/pager.tsx"
import type { PageContext, Pages } from "../context.ts"
import { redirectWith } from "../flash.ts"
import { showPage } from "../layout.tsx"
import { nextPage, readListQuery } from "../list-page.ts"
import { readForm } from "../read-form.ts"
import { DeliveryPage } from "./webhooks/delivery.tsx"
import { DELIVERY_FILTERS, DeliveryList } from "./webhooks/delivery-list.tsx"
import { SecretCard } from "./webhooks/secret-card.tsx"
import { TestForm } from "./webhooks/test-form.tsx"

/** The account's webhooks: the secret that signs them, and every delivery with its tries. */
export const webhookPages = new Hono<Pages>()

const PATH = "/webhooks"

webhookPages.get(PATH, async (c) => await showWebhooks(c, {}))

webhookPages.post(`${PATH}/secret`, async (c) => await showWebhooks(c, { isSecretShown: true }))

webhookPages.post(`${PATH}/secret/rotate`, async (c) => {
  const path = "/webhooks/secret/rotate"
  valueOf(await c.get("api")(path, secretRecord, { method: "POST" }))
  const message = "A new secret signs from now on, and the one before beside it for a day."
  return redirectWith(c, PATH, message)
})

webhookPages.post(`${PATH}/test`, async (c) => {
  const { url = "" } = await readForm(c)
  const json = { url: url.trim() }
  const answer = await c.get("api")("/webhooks/test", deliveryRecord, { method: "POST", json })
  if (!answer.ok) return await showWebhooks(c, { refused: { url, answer } })
  return redirectWith(c, `${PATH}/${answer.value.id}`, "The test event is on its way.")
})

webhookPages.get(`${PATH}/:id`, async (c) => {
  const delivery = valueOf(await c.get("api")(`/webhooks/deliveries/${idOf(c)}`, deliveryRecord))
  const scripts = ["live.client.js"] as const
  const facts = { title: delivery.type, section: "webhooks" as const, scripts }
  return await showPage(c, facts, <DeliveryPage delivery={delivery} />)
})

webhookPages.post(`${PATH}/:id/replay`, async (c) => {
  const path = `/webhooks/deliveries/${idOf(c)}/replay`
  const { id } = valueOf(await c.get("api")(path, deliveryRecord, { method: "POST" }))
  return redirectWith(c, `${PATH}/${id}`, "It is delivered once more, with all tries before it.")
})

type Shown = {
  isSecretShown?: boolean
  /** A test event that was refused. */
  refused?: { url: string; answer: ApiAnswer<DeliveryRecord> }
}

async function showWebhooks(c: PageContext, { isSecretShown = false, refused }: Shown) {
  const { filters, query, isFirstPage } = readListQuery(c, DELIVERY_FILTERS)
  const [secret, deliveries] = await Promise.all([
    c.get("api")("/webhooks/secret", secretRecord),
    c.get("api")(`/webhooks/deliveries?${query.toString()}`, z.array(deliveryRecord)),
  ])
  const content = (
    <>
      <DeliveryList
        deliveries={deliveries}
        filters={filters}
        isFirstPage={isFirstPage}
        origin={publicOrigin(c)}
      />
      <Pager next={nextPage(PATH, deliveries)} />
      <div class="columns">
        <SecretCard secret={valueOf(secret)} isShown={isSecretShown} />
        <TestForm refused={refused} />
      </div>
    </>
  )
  const facts = {
    title: "Webhooks",
    section: "webhooks" as const,
    lead: "Calls of your own URLs when a job ends, signed and tried again until they arrive.",
    status: refused ? (422 as const) : (200 as const),
  }
  return await showPage(c, facts, content)
}

function idOf(c: PageContext): string {
  return encodeURIComponent(c.req.param("id") ?? "")
}
