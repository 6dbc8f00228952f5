import { execFile, spawnSync } from "node:child_process"
import { createHmac } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { makeTempFolder } from "../../../scripts/cli/temp-folder.ts"
import { readSnippets } from "./snippets.ts"

const PAGE = "docs/guide/verify-webhooks.md"
/** Example of Standard Webhooks, which the page has too. */
const VECTOR = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: "1614265330",
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}

type Call = { signature: string; body: string; now: string }

const genuine: Call = { signature: VECTOR.signature, body: VECTOR.body, now: VECTOR.timestamp }

/** Calls of the function, and whether the webhook is genuine. */
const CASES: [string, Call, boolean][] = [
  ["a genuine webhook", genuine, true],
  ["the second of two signatures", { ...genuine, signature: `v1,AAAA ${genuine.signature}` }, true],
  ["another body", { ...genuine, body: '{"test": 2432232315}' }, false],
  ["another signature", { ...genuine, signature: "v1,AAAA" }, false],
  ["an old request", { ...genuine, now: "1614265931" }, false],
]

/**
 * Languages of the page: file, command, and a program around its function that prints the result.
 */
const LANGUAGES: Record<
  string,
  { tool: string; file: string; build?: string[]; run: string[]; wrap: (code: string) => string }
> = {
  python: {
    tool: "python3",
    file: "verify.py",
    run: ["python3", "verify.py"],
    wrap: (code) => `${code}
import sys
secret, id, timestamp, signature, body, now = sys.argv[1:]
print(verify(secret, {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}, body.encode(), int(now)))
`,
  },
  ts: {
    tool: process.execPath,
    file: "verify.ts",
    run: [process.execPath, "verify.ts"],
    wrap: (code) => `${code}
const [secret = "", id = "", timestamp = "", signature = "", body = "", now] = process.argv.slice(2)
console.log(verify(secret, { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature }, body, Number(now)))
`,
  },
  go: {
    tool: "go",
    file: "verify.go",
    build: ["build", "-o", "verify", "verify.go"],
    run: ["./verify"],
    wrap: (
      code,
    ) => `${code.replace("package webhook", "package main").replace("import (\n", 'import (\n\t"fmt"\n\t"os"\n')}
func main() {
	a := os.Args[1:]
	now, _ := strconv.ParseInt(a[5], 10, 64)
	header := map[string]string{"webhook-id": a[1], "webhook-timestamp": a[2], "webhook-signature": a[3]}
	fmt.Println(Verify(a[0], header, []byte(a[4]), time.Unix(now, 0)))
}
`,
  },
  ruby: {
    tool: "ruby",
    file: "verify.rb",
    run: ["ruby", "verify.rb"],
    wrap: (code) => `${code}
secret, id, timestamp, signature, body, now = ARGV
puts verify(secret, { "webhook-id" => id, "webhook-timestamp" => timestamp, "webhook-signature" => signature }, body, now.to_i)
`,
  },
  php: {
    tool: "php",
    file: "verify.php",
    run: ["php", "verify.php"],
    wrap: (code) => `${code}
[, $secret, $id, $timestamp, $signature, $body, $now] = $argv;
echo verify($secret, ["webhook-id" => $id, "webhook-timestamp" => $timestamp, "webhook-signature" => $signature], $body, (int) $now) ? "true" : "false";
`,
  },
}

test("the value of the page is a genuine webhook", () => {
  const key = Buffer.from(VECTOR.secret.slice("whsec_".length), "base64")
  const signed = `${VECTOR.id}.${VECTOR.timestamp}.${VECTOR.body}`
  const signature = createHmac("sha256", key).update(signed).digest("base64")
  expect(`v1,${signature}`).toBe(VECTOR.signature)
})

describe.each(Object.entries(LANGUAGES))("the function in %s", (language, program) => {
  const isHere = spawnSync(program.tool, ["version"]).error === undefined
  test.skipIf(!isHere)(`tells genuine webhooks from others`, async () => {
    const [snippet] = readSnippets(PAGE, [language])
    await using folder = await makeTempFolder("verify")
    await writeFile(join(folder.path, program.file), program.wrap(snippet?.code ?? ""))
    const options = { cwd: folder.path }
    if (program.build) await promisify(execFile)(program.tool, program.build, options)
    const [file = "", ...words] = program.run
    for (const [name, { signature, body, now }, isGenuine] of CASES) {
      const values = [VECTOR.secret, VECTOR.id, VECTOR.timestamp, signature, body, now]
      const { stdout } = await promisify(execFile)(file, [...words, ...values], options)
      expect([name, stdout.trim().toLowerCase()]).toEqual([name, String(isGenuine)])
    }
  })
})
