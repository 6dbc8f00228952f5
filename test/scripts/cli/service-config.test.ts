import { resolve } from "node:path"
import { expect, test } from "vitest"
import { readServiceConfig } from "../../../scripts/cli/service-config.ts"

test("a service uses port 8787 of the loopback interface and the state folder .lathe", () => {
  expect(readServiceConfig({})).toMatchObject({
    origin: "http://127.0.0.1:8787",
    host: "127.0.0.1",
    stateDir: resolve(".lathe"),
    sweepEveryMs: 60_000,
    refusesPublicHosts: false,
  })
})

test("a service on all interfaces is reachable on the loopback interface", () => {
  expect(readServiceConfig({ HOST: "0.0.0.0", PORT: "9000" })).toMatchObject({
    host: "0.0.0.0",
    origin: "http://127.0.0.1:9000",
  })
})

test.each<[Record<string, string>, string]>([
  [{ PORT: "web" }, 'PORT must be a whole number from 1 to 65535, not "web".'],
  [{ PORT: "70000" }, 'PORT must be a whole number from 1 to 65535, not "70000".'],
  [{ RUNNER_CAPACITY: "0" }, 'RUNNER_CAPACITY must be a whole number above 0, not "0".'],
  [{ REFUSE_PUBLIC_HOSTS: "some" }, 'REFUSE_PUBLIC_HOSTS must be true or false, not "some".'],
  ...["media.example.com", "127.0.0.1:80", "fe80::1%eth0", ""].map(
    (host): [Record<string, string>, string] => [
      { HOST: host },
      `HOST must be an address of this machine, such as 127.0.0.1, ::1 or 0.0.0.0, or localhost, not "${host}".`,
    ],
  ),
  [
    { CLIENT_ADDRESS_HEADER: "X Real" },
    'CLIENT_ADDRESS_HEADER must be the name of a header, not "X Real".',
  ],
  [{ SWEEP_SECONDS: "-1" }, 'SWEEP_SECONDS must be a number above 0, not "-1".'],
])("%o is refused in one sentence", (environment, sentence) => {
  expect(() => readServiceConfig(environment)).toThrow(sentence)
})
