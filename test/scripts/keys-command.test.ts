import { expect, test } from "vitest"
import { parseCommand } from "../../scripts/keys/command.ts"

test.each([
  ["create --account Ann", { kind: "create", account: "Ann" }],
  ["create --account=Ann --plan paid", { kind: "create", account: "Ann", plan: "paid" }],
  ["list", { kind: "list" }],
  ["--remote https://lathe.example/v1 list", { kind: "list", remote: "https://lathe.example" }],
  ["revoke 0199", { kind: "revoke", id: "0199" }],
  ["plan Ann paid", { kind: "plan", account: "Ann", plan: "paid" }],
  [
    "plan Ann trial --remote https://lathe.example",
    { kind: "plan", account: "Ann", plan: "trial", remote: "https://lathe.example" },
  ],
])("%s is understood", (line, command) => {
  expect(parseCommand(line.split(" "))).toEqual(command)
})

test.each([
  ["", "No command."],
  ["create", "create needs --account NAME."],
  ["create --account Ann extra", "Not a command: create extra."],
  ["create --account Ann --plan gold", "--plan is one of trial, paid."],
  ["list --plan paid", "--account and --plan belong to create."],
  ["revoke", "revoke needs the ID of a key"],
  ["revoke one two", "Not a command: revoke one two."],
  ["plan", "plan needs the NAME of an account, as list shows it, and a plan."],
  ["plan Ann", "plan needs the NAME of an account, as list shows it, and a plan."],
  ["plan Ann gold", "PLAN is one of trial, paid."],
  ["plan Ann Smith paid", "Not a command: plan Ann Smith paid."],
  ["plan Ann paid --plan paid", "--account and --plan belong to create."],
  ["remove 0199", "Not a command: remove 0199."],
  ["list --all", "Unknown option '--all'"],
  ["list --remote lathe", "--remote needs the URL of a deployment."],
])("'%s' is answered with what is wrong and the usage", (line, sentence) => {
  const words = line.split(" ").filter((word) => word !== "")
  expect(() => parseCommand(words)).toThrow(sentence)
  expect(() => parseCommand(words)).toThrow("npm run keys -- create --account NAME")
})
