import { startTestSite } from "../../support/site/site.ts"
import type { TestSite } from "../../support/site/site.ts"
import { openKeyedCall } from "../operate/keyed-call.ts"
import type { KeyedCall } from "../operate/keyed-call.ts"
import { startReceiver } from "../receiver.ts"
import type { Receiver } from "../receiver.ts"
import { startService } from "../service.ts"
import type { TestService } from "../service.ts"

/** A service that may fetch from a site of this machine and call a receiver, and a caller of it. */
export type FetchStage = AsyncDisposable & {
  site: TestSite
  receiver: Receiver
  service: TestService
  call: KeyedCall
}

/** Starts the stage; `account` is whose key the caller has. */
export async function openFetchStage(account: string): Promise<FetchStage> {
  const site = await startTestSite()
  const receiver = await startReceiver()
  const hosts = [site.host, new URL(receiver.origin).host]
  const service = await startService({ ALLOWED_PRIVATE_HOSTS: hosts.join(",") })
  return {
    site,
    receiver,
    service,
    call: openKeyedCall(service, await service.makeKey(account, "paid")),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
      await site.close()
    },
  }
}
