import { z } from "zod"
import { callCloudflareOrThrow } from "../cloudflare.ts"
import type { CloudflareAccount } from "../cloudflare.ts"

/** Host of Cloudflare's registry of container images. */
export const IMAGE_REGISTRY = "registry.cloudflare.com"

/** Validity of the registry credentials, in minutes: enough for the push of a large image. */
const CREDENTIALS_MINUTES = 15

const credentials = z.object({ username: z.string().default("v1"), password: z.string() })

export type RegistryCredentials = z.infer<typeof credentials>

/** Creates credentials for the registry that expire after 15 minutes. */
export async function makeRegistryCredentials(
  api: CloudflareAccount,
  permissions: ("pull" | "push")[],
): Promise<RegistryCredentials> {
  return await callCloudflareOrThrow(api, credentials, {
    method: "POST",
    path: `/containers/registries/${IMAGE_REGISTRY}/credentials`,
    body: { expiration_minutes: CREDENTIALS_MINUTES, permissions },
  })
}

/** Returns the value of the `authorization` header for requests to the registry. */
export function makeRegistryAuthorization({ password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`v1:${password}`).toString("base64")}`
}
