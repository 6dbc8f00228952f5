import { describe, expect, it } from "vitest"
import { findSlotHandOver, decideSlotGrants } from "../../src/scheduler/fair-share.ts"
import type { PoolState } from "../../src/scheduler/fair-share.ts"
import type { SlotRequester } from "../../src/scheduler/requesters.ts"

const NOW = 1_000_000
const WAIT_MS = 300_000

/** Parses a pool: `a a -` means three slots, two of them held by a; allocation numbers rise. */
function pool(slots: string, waiting: Partial<SlotRequester>[], lastHolders = ""): PoolState {
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

function wants(accountId: string, more: Partial<SlotRequester> = {}): SlotRequester {
  const asked = { number: 1, heardAt: NOW, turn: 0, waitingSince: NOW }
  return { accountId, wanted: 1, slotsShareMax: 1, ...asked, ...more }
}

const trial = { slotsShareMax: 0.5 }

describe("a free slot", () => {
  it.each([
    ["goes to the account that holds none", "a -", [wants("a"), wants("b", { turn: 9 })], "b"],
    ["goes to the account that holds least", "a a b -", [wants("a"), wants("b", { turn: 9 })], "b"],
    ["goes by turn between equal accounts", "a b -", [wants("a", { turn: 5 }), wants("b")], "b"],
    [
      "goes to the longest-waiting account if none had a turn",
      "- -",
      [wants("a"), wants("b", { waitingSince: NOW - 1 })],
      "b",
    ],
    ["goes to no account without demand", "- -", [wants("a", { wanted: 0 })], undefined],
    ["does not exist if all are held", "a b", [wants("b")], undefined],
    [
      "goes to a trial account that holds the others while it is alone",
      "a a a -",
      [wants("a", trial)],
      "a",
    ],
    [
      "goes to no trial account that holds half while others wait",
      "a a - -",
      [wants("a", trial), wants("b", { ...trial, turn: 9 })],
      "b",
    ],
    [
      "stays free if all waiting accounts hold their share",
      "a b -",
      [wants("a", trial), wants("b", trial)],
      undefined,
    ],
    [
      "goes to a trial account even if half the pool is less than one",
      "-",
      [wants("a", trial)],
      "a",
    ],
    [
      "goes to a trial account below its share that holds less than a paid account",
      "p p t -",
      [wants("p"), wants("t", { ...trial, turn: 9 })],
      "t",
    ],
    ["goes to a paid account if the trial has its share", "p t - -", [wants("p")], "p"],
  ])("%s", (_, slots, waiting, accountId) => {
    expect(decideSlotGrants(pool(slots, waiting), 1)[0]?.accountId).toBe(accountId)
  })
})

describe("a slot whose container an account had last", () => {
  it.each([
    ["goes to that account first", "- -", "b a", [wants("a")], { slot: "s1", accountId: "a" }],
    [
      "is avoided by an account with an earlier turn",
      "- - -",
      "b a",
      [wants("a", { turn: 9 }), wants("b"), wants("c")],
      { slot: "s0", accountId: "b" },
    ],
    [
      "is the last choice of another account",
      "- - -",
      "b - c",
      [wants("a"), wants("b", { turn: 1 })],
      { slot: "s1", accountId: "a" },
    ],
    [
      "is taken before one whose account waits too",
      "- -",
      "b c",
      [wants("a"), wants("b", { turn: 1 })],
      { slot: "s1", accountId: "a" },
    ],
    [
      "stays with it for a minute if both accounts hold one",
      "a b -",
      "- - a",
      [wants("a", { turn: 9 }), wants("b")],
      { slot: "s2", accountId: "a" },
    ],
    [
      "goes to the other account after that",
      "a b -",
      "- - a",
      [wants("a", { turn: 9 }), wants("b", { waitingSince: NOW - 60_000 })],
      { slot: "s2", accountId: "b" },
    ],
    [
      "delays no account without slots",
      "-",
      "a",
      [wants("a", { turn: 9 }), wants("b")],
      { slot: "s0", accountId: "b" },
    ],
  ])("%s", (_, slots, lastHolders, waiting, expected) => {
    expect(decideSlotGrants(pool(slots, waiting, lastHolders), 1)[0]).toMatchObject(expected)
  })
})

describe("a hand-over", () => {
  const waited = [wants("a"), wants("b", { waitingSince: NOW - WAIT_MS })]
  it.each([
    ["takes the youngest run", "a a a", waited, [], 3],
    ["takes the next run if the youngest was handed over before", "a a a", waited, [3], 2],
    ["does not happen if all were handed over before", "a a", waited, [1, 2], undefined],
    ["does not happen in a pool of one slot", "a", waited, [], undefined],
    ["does not happen if two accounts hold the slots", "a c", waited, [], undefined],
    ["does not happen if a slot is free", "a -", waited, [], undefined],
    [
      "does not happen if no other account waits",
      "a a",
      [wants("a", { waitingSince: 0 })],
      [],
      undefined,
    ],
  ])("%s", (_, slots, waiting, kept, id) => {
    const due = findSlotHandOver(pool(slots, waiting), { waitMsMax: WAIT_MS, kept: new Set(kept) })
    expect(due?.allocation.id).toBe(id)
  })

  it("is due once the longest-waiting account has waited for the limit", () => {
    const waiting = [wants("b", { waitingSince: NOW - 5 }), wants("c", { waitingSince: NOW - 9 })]
    const due = findSlotHandOver(pool("a a", waiting), { waitMsMax: WAIT_MS, kept: new Set() })
    expect(due?.at).toBe(NOW - 9 + WAIT_MS)
  })
})
