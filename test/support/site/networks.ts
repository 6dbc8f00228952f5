import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)
const OUTPUT_BYTES_MAX = 10_000_000
const FAR = "/proc/$far/ns/net"

/**
 * Addresses of the far network, a network namespace that simulates the internet. No packet leaves
 * the machine.
 */
export const FAR_NETWORK_ADDRESSES = {
  site: "93.184.215.14",
  site6: "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
  /** Private addresses, at which canary servers detect forbidden requests. */
  canaries: ["10.20.30.40", "169.254.169.254", "192.168.7.7", "100.100.100.200", "fd00::7"],
}

/** Public addresses of the near network, the network namespace in which the tested program runs. */
export const NEAR_NETWORK_ADDRESSES = { own: "93.184.215.1", own6: "2606:2800:21f:cb07::1" }

/**
 * Reports whether this process can create network namespaces, which requires root on Linux. Root of
 * many containers may not create them either.
 */
export async function canCreateNetworks(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  return await runInNetworks("true").then(
    () => true,
    () => false,
  )
}

/**
 * Runs a Node.js program in its own network namespace, whose only route leads to the far network.
 * The far network simulates the internet with the addresses `FAR_NETWORK_ADDRESSES`. The
 * environment variable FAR_PID is the id of a process in that network. DNS queries go to 127.0.0.1,
 * where the program must start a DNS server. Returns the output of the program and removes the
 * networks.
 */
export async function runInNearNetwork(words: readonly string[]): Promise<string> {
  return (await runInNetworks(`exec "$0" "$@"`, [process.execPath, ...words])).stdout
}

async function runInNetworks(script: string, words: readonly string[] = []) {
  const unshare = ["unshare", "--net", "--mount", "--"]
  const shell = ["sh", "-ec", `${makeNetworks()}\n${script}`, ...words]
  // Kills the processes that hold the networks if the test process dies, so that the kernel removes
  // the networks.
  const wrapped = ["--pdeathsig", "KILL", "--", ...unshare, ...shell]
  return await run("setpriv", wrapped, { maxBuffer: OUTPUT_BYTES_MAX })
}

/**
 * Returns a shell script that creates the far network and the route to it. A `sleep` process keeps
 * the far network in existence, and is killed when the script's process ends.
 */
function makeNetworks(): string {
  const { site, site6, canaries } = FAR_NETWORK_ADDRESSES
  const addresses = [site, site6, ...canaries].map((address) => {
    return `ip address add ${withBits(address)} dev web1`
  })
  const far = [
    "ip link set lo up",
    "ip link set web1 up",
    ...addresses,
    `ip route add ${NEAR_NETWORK_ADDRESSES.own} dev web1`,
    `ip -6 route add ${NEAR_NETWORK_ADDRESSES.own6} dev web1`,
  ].join("\n")
  return [
    "ip link set lo up",
    'printf "nameserver 127.0.0.1\\n" > /tmp/lathe-resolv.$$',
    "mount --bind /tmp/lathe-resolv.$$ /etc/resolv.conf",
    "rm /tmp/lathe-resolv.$$",
    "unshare --net -- setpriv --pdeathsig KILL sleep 600 > /dev/null 2>&1 & far=$!",
    `until [ -e ${FAR} ] && [ "$(readlink ${FAR})" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done`,
    "ip link add web0 type veth peer name web1 netns $far",
    "ip link set web0 up",
    `ip address add ${withBits(NEAR_NETWORK_ADDRESSES.own)} dev web0`,
    `ip address add ${withBits(NEAR_NETWORK_ADDRESSES.own6)} dev web0`,
    `nsenter --net=${FAR} sh -ec '${far}'`,
    "ip route add default dev web0",
    "ip -6 route add default dev web0",
    "export FAR_PID=$far",
  ].join("\n")
}

function withBits(address: string): string {
  return address.includes(":") ? `${address}/128 nodad` : `${address}/32`
}
