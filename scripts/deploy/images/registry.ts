import { z } from "zod"
import { callOrThrow } from "../cloudflare.ts"
import type { Cloudflare } from "../cloudflare.ts"

/** Where the images of containers are. */
export const REGISTRY = "registry.cloudflare.com"

/** Time for a push of a large image. */
const CREDENTIALS_MINUTES = 15

const credentials = z.object({ username: z.string().default("v1"), password: z.string() })

export type Credentials = z.infer<typeof credentials>

/** Makes credentials of the registry that end by themselves. */
export async function makeCredentials(
  api: Cloudflare,
  permissions: ("pull" | "push")[],
): Promise<Credentials> {
  return await callOrThrow(api, credentials, {
    method: "POST",
    path: `/containers/registries/${REGISTRY}/credentials`,
    body: { expiration_minutes: CREDENTIALS_MINUTES, permissions },
  })
}

/** The header for requests to the registry. */
export function authorizationOf({ password }: Credentials): string {
  return `Basic ${Buffer.from(`v1:${password}`).toString("base64")}`
}
