import { expect, test } from "vitest"
import {
  findWranglerCommand,
  classifyWranglerCommand,
  readProcessByPs,
} from "../../../scripts/deploy/plain/command-line.ts"

test.each([
  ["deploy", "deploy"],
  ["deploy --minify --message words", "deploy"],
  ["deploy --containers-rollout=immediate --no-autoconfig", "deploy"],
  ["deploy --config wrangler.toml", "deploy"],
  ["deploy -c ./wrangler.toml", "deploy"],
  ["deploy --config other.toml", "deploy otherwise"],
  ["deploy --name other", "deploy otherwise"],
  ["deploy src/index.ts", "deploy otherwise"],
  ["deploy --env staging", "deploy otherwise"],
  ["deploy --var RUN_SECONDS_MAX:60", "deploy otherwise"],
  ["deploy --dry-run", "other"],
  ["deploy --dry-run=true --name other", "other"],
  ["deploy --dryRun", "other"],
  ["deploy --no-dry-run", "other"],
  ["deploy --help", "other"],
  ["--cwd . deploy", "other"],
  ["versions upload", "other"],
  ["preview", "other"],
  ["dev", "other"],
  ["", "other"],
])("wrangler %s is %s", (line, command) => {
  expect(classifyWranglerCommand(line.split(" "))).toBe(command)
})

test("a process without a wrangler parent runs no wrangler command", () => {
  expect(findWranglerCommand()).toBe("other")
})

test("`ps` reports the parent and the arguments of a process", () => {
  const { parent, words } = readProcessByPs(process.pid)
  expect(parent).toBe(process.ppid)
  expect(words.join(" ")).toContain("node")
})
