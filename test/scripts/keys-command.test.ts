import { expect, test } from "vitest"
import { parseKeysCommand, parseExpiry } from "../../scripts/keys/command.ts"

test.each([
  ["create --account Ann", { kind: "create", wanted: { account: "Ann" } }],
  [
    "create --account=Ann --plan paid",
    { kind: "create", wanted: { account: "Ann", plan: "paid" } },
  ],
  // Which plans there are the service knows.
  [
    "create --account Ann --plan gold",
    { kind: "create", wanted: { account: "Ann", plan: "gold" } },
  ],
  [
    "create --account Ann --name ci --scopes write,read --expires 2999-01-31",
    {
      kind: "create",
      wanted: {
        account: "Ann",
        name: "ci",
        scopes: ["write", "read"],
        expires_at: "2999-01-31T00:00:00.000Z",
      },
    },
  ],
  ["rotate 0199", { kind: "rotate", id: "0199" }],
  ["rotate 0199 --overlap 60", { kind: "rotate", id: "0199", overlapSeconds: 60 }],
  ["list", { kind: "list" }],
  ["--remote https://lathe.example/v1 list", { kind: "list", remote: "https://lathe.example" }],
  ["revoke 0199", { kind: "revoke", id: "0199" }],
  ["plan Ann gold", { kind: "plan", account: "Ann", plan: "gold" }],
  ["operator ann@example.com", { kind: "operator", email: "ann@example.com" }],
  ["plan Ann paid", { kind: "plan", account: "Ann", plan: "paid" }],
  [
    "plan Ann trial --remote https://lathe.example",
    { kind: "plan", account: "Ann", plan: "trial", remote: "https://lathe.example" },
  ],
])("%s is parsed", (line, command) => {
  expect(parseKeysCommand(line.split(" "))).toEqual(command)
})

test.each([
  ["", "No command."],
  ["create", "create needs --account NAME."],
  ["create --account Ann extra", "Not a command: create extra."],
  ["create --account Ann --scopes all", "--scopes takes read, write, admin, by commas."],
  ["create --account Ann --scopes read,", "--scopes takes read, write, admin, by commas."],
  ["create --account Ann --expires 2020-01-31", "--expires takes days, or a date in the future"],
  ["create --account Ann --expires 0", "--expires takes days, or a date in the future"],
  ["create --account Ann --expires soon", "--expires takes days, or a date in the future"],
  ["create --account Ann --overlap 60", "--overlap belongs to rotate."],
  ["list --plan paid", "--plan belongs to create."],
  ["list --account Ann", "--account belongs to create."],
  ["rotate", "rotate needs the ID of a key"],
  ["rotate 0199 --overlap day", "--overlap takes seconds."],
  ["rotate 0199 --scopes read", "--scopes belongs to create."],
  ["move Ann 2", "Not a command: move Ann 2."],
  ["revoke", "revoke needs the ID of a key"],
  ["revoke one two", "Not a command: revoke one two."],
  ["operator", "operator needs the EMAIL of the operator."],
  ["operator one two", "Not a command: operator one two."],
  ["plan", "plan needs the NAME of an account, as list shows it, and a plan."],
  ["plan Ann", "plan needs the NAME of an account, as list shows it, and a plan."],
  ["plan Ann Smith paid", "Not a command: plan Ann Smith paid."],
  ["plan Ann paid --plan paid", "--plan belongs to create."],
  ["remove 0199", "Not a command: remove 0199."],
  ["list --all", "Unknown option '--all'"],
  ["list --remote lathe", "--remote needs the URL of a deployment."],
])("'%s' gets its fault and the usage", (line, sentence) => {
  const words = line.split(" ").filter((word) => word !== "")
  expect(() => parseKeysCommand(words)).toThrow(sentence)
  expect(() => parseKeysCommand(words)).toThrow("npm run keys -- create --account NAME")
})

const NOON = Date.parse("2026-11-22T12:00:00Z")

test.each([
  ["1", "2026-11-23T12:00:00.000Z"],
  ["365", "2027-11-22T12:00:00.000Z"],
  ["2026-11-23", "2026-11-23T00:00:00.000Z"],
  ["2026-11-22T13:30:00+01:00", "2026-11-22T12:30:00.000Z"],
  ["2026-11-22T13:00:00+01:00", null],
  ["2026-11-22", null],
  ["2026-13-01", null],
  ["2027-01-31T12:00", null],
  ["-1", null],
])("--expires %s at noon is %s", (text, expiry) => {
  expect(parseExpiry(text, NOON)).toBe(expiry)
})
