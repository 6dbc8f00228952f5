import { newId } from "../../ids.ts"

const TYPE = "webhook.test"

/** The row of a test event's delivery, with the bytes that every try of it sends. */
export function deliveryOfTest({ accountId, url, now }: TestFacts) {
  const timestamp = new Date(now).toISOString()
  const data = { message: "This is a test: webhooks of this account reach this URL." }
  return {
    id: newId(),
    accountId,
    jobId: null,
    type: TYPE,
    url,
    body: JSON.stringify({ type: TYPE, timestamp, data }),
    state: "waiting" as const,
    tries: 0,
    nextTryAt: now,
    createdAt: now,
    completedAt: null,
  }
}

type TestFacts = { accountId: string; url: string; now: number }
