import { describe, expect, it } from "vitest"
import { findHandOver, shareSlots } from "../../../src/pipeline/dispatch/fair-share.ts"
import type { PoolState } from "../../../src/pipeline/dispatch/fair-share.ts"
import type { Requester } from "../../../src/pipeline/dispatch/requesters.ts"

const NOW = 1_000_000
const WAIT_MS = 300_000

/** A pool as words: `a a -` are three slots, two of them held by a; the allocations rise. */
function pool(slots: string, waiting: Partial<Requester>[], lastHolders = ""): PoolState {
  const names = slots.split(" ")
  const last = lastHolders.split(" ")
  return {
    slotCount: names.length,
    free: names.flatMap((holder, index) => {
      const lastHolder = last[index] ?? "-"
      return holder === "-"
        ? [{ name: `s${index}`, lastHolder: /^-?$/.test(lastHolder) ? null : lastHolder }]
        : []
    }),
    allocations: names.flatMap((holder, index) =>
      holder === "-" ? [] : [{ id: index + 1, slot: `s${index}`, accountId: holder }],
    ),
    waiting: waiting.map((known) => ({ ...wants(""), ...known })),
    now: NOW,
  }
}

function wants(accountId: string, more: Partial<Requester> = {}): Requester {
  const asked = { number: 1, heardAt: NOW, turn: 0, waitingSince: NOW }
  return { accountId, wanted: 1, slotsShareMax: 1, ...asked, ...more }
}

const trial = { slotsShareMax: 0.5 }

describe("a free slot", () => {
  it.each([
    ["goes to the account that holds none", "a -", [wants("a"), wants("b", { turn: 9 })], "b"],
    ["goes to the one that holds least", "a a b -", [wants("a"), wants("b", { turn: 9 })], "b"],
    ["goes by turn between equals", "a b -", [wants("a", { turn: 5 }), wants("b")], "b"],
    [
      "goes to who waits longest where no one had a turn",
      "- -",
      [wants("a"), wants("b", { waitingSince: NOW - 1 })],
      "b",
    ],
    ["goes to nobody who wants none", "- -", [wants("a", { wanted: 0 })], undefined],
    ["is none where all are held", "a b", [wants("b")], undefined],
    ["may be a trial account's last one while it is alone", "a a a -", [wants("a", trial)], "a"],
    [
      "is no trial account's that holds half while others want some",
      "a a - -",
      [wants("a", trial), wants("b", { ...trial, turn: 9 })],
      "b",
    ],
    [
      "stays free for the next where all who want one hold their share",
      "a b -",
      [wants("a", trial), wants("b", trial)],
      undefined,
    ],
    ["is a trial account's also where half a pool is less than one", "-", [wants("a", trial)], "a"],
    [
      "is a paid account's beyond the half",
      "p p t -",
      [wants("p"), wants("t", { ...trial, turn: 9 })],
      "t",
    ],
    ["is a paid account's where the trial has its share", "p t - -", [wants("p")], "p"],
  ])("%s", (_, slots, waiting, accountId) => {
    expect(shareSlots(pool(slots, waiting), 1)[0]?.accountId).toBe(accountId)
  })
})

describe("a slot whose container an account had last", () => {
  it.each([
    ["is its own", "- -", "b a", [wants("a")], { slot: "s1", accountId: "a" }],
    [
      "is left to it by one that comes first",
      "- - -",
      "b a",
      [wants("a", { turn: 9 }), wants("b"), wants("c")],
      { slot: "s0", accountId: "b" },
    ],
    [
      "is taken last by another",
      "- - -",
      "b - c",
      [wants("a"), wants("b", { turn: 1 })],
      { slot: "s1", accountId: "a" },
    ],
    [
      "is taken before one that is in use",
      "- -",
      "b c",
      [wants("a"), wants("b", { turn: 1 })],
      { slot: "s1", accountId: "a" },
    ],
    [
      "stays its own for a minute where both hold one",
      "a b -",
      "- - a",
      [wants("a", { turn: 9 }), wants("b")],
      { slot: "s2", accountId: "a" },
    ],
    [
      "goes over after that",
      "a b -",
      "- - a",
      [wants("a", { turn: 9 }), wants("b", { waitingSince: NOW - 60_000 })],
      { slot: "s2", accountId: "b" },
    ],
    [
      "makes nobody wait who holds none",
      "-",
      "a",
      [wants("a", { turn: 9 }), wants("b")],
      { slot: "s0", accountId: "b" },
    ],
  ])("%s", (_, slots, lastHolders, waiting, expected) => {
    expect(shareSlots(pool(slots, waiting, lastHolders), 1)[0]).toMatchObject(expected)
  })
})

describe("a hand-over", () => {
  const waited = [wants("a"), wants("b", { waitingSince: NOW - WAIT_MS })]
  it.each([
    ["is of the youngest run", "a a a", waited, [], 3],
    ["is of the next where the youngest was handed over before", "a a a", waited, [3], 2],
    ["is none where all were", "a a", waited, [1, 2], undefined],
    ["is none in a pool of one slot", "a", waited, [], undefined],
    ["is none where two accounts hold the slots", "a c", waited, [], undefined],
    ["is none where a slot is free", "a -", waited, [], undefined],
    ["is none where nobody else waits", "a a", [wants("a", { waitingSince: 0 })], [], undefined],
  ])("%s", (_, slots, waiting, kept, id) => {
    const due = findHandOver(pool(slots, waiting), { waitMsMax: WAIT_MS, kept: new Set(kept) })
    expect(due?.allocation.id).toBe(id)
  })

  it("is due once the first of those who wait has waited for long enough", () => {
    const waiting = [wants("b", { waitingSince: NOW - 5 }), wants("c", { waitingSince: NOW - 9 })]
    const due = findHandOver(pool("a a", waiting), { waitMsMax: WAIT_MS, kept: new Set() })
    expect(due?.at).toBe(NOW - 9 + WAIT_MS)
  })
})
