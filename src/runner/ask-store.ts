import { AwsV4Signer } from "aws4fetch"
import { OUTBOUND_ERROR_HEADER } from "../contract/protocol.ts"
import { encodeKey, encodeSegment } from "../contract/s3-url.ts"
import type { Env } from "../env.ts"
import type { S3Source } from "../s3-sources.ts"

/**
 * GETs an object by its exact key with the credentials of its bucket; null where the store does not
 * answer. Redirects are not followed: what is signed is for the operator's endpoint alone. `headers`
 * are signed too.
 */
export async function askStore(
  env: Env,
  { endpoint, bucket, region, access_key_id, secret_access_key }: S3Source,
  key: string,
  headers: Record<string, string>,
): Promise<Response | null> {
  const signer = new AwsV4Signer({
    method: "GET",
    url: `${endpoint.replace(/\/+$/, "")}/${encodeSegment(bucket)}/${encodeKey(key)}`,
    headers,
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    service: "s3",
    region,
  })
  const signed = await signer.sign()
  // Not signed, since what carries a request may write its own.
  signed.headers.set("accept-encoding", "identity")
  const request = new Request(signed.url, { headers: signed.headers, redirect: "manual" })
  try {
    const answer = env.S3 ? await env.S3.fetch(request) : await fetch(request)
    if (!answer.headers.has(OUTBOUND_ERROR_HEADER)) return answer
    await answer.body?.cancel()
    return null
  } catch {
    // Its words name the endpoint.
    return null
  }
}
