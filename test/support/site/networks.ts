import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)
const OUTPUT_BYTES_MAX = 10_000_000
const FAR = "/proc/$far/ns/net"

/** Addresses in the far network; they are public, and exist only there. */
export const FAR_ADDRESSES = {
  site: "93.184.215.14",
  site6: "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
  /** Private ones, where nobody may get. */
  canaries: ["10.20.30.40", "169.254.169.254", "192.168.7.7", "100.100.100.200", "fd00::7"],
}

/** Addresses of the near network, in which a program runs; one of them looks public. */
export const NEAR_ADDRESSES = { own: "93.184.215.1", own6: "2606:2800:21f:cb07::1" }

/**
 * Whether networks can be made here: that takes root on a Linux with network namespaces, which many
 * containers do not have.
 */
export async function canMakeNetworks(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  return await runInNetworks("true").then(
    () => true,
    () => false,
  )
}

/**
 * Runs a program (Node's words) in a network of its own, whose only way out leads to a second network,
 * which has FAR_ADDRESSES and the process FAR_PID of the environment; far-site.ts opens the site there.
 * Names are asked of 127.0.0.1, where the program is to open a name server. Returns what it printed; the
 * networks are gone with it.
 */
export async function runBetweenNetworks(words: readonly string[]): Promise<string> {
  return (await runInNetworks(`exec "$0" "$@"`, [process.execPath, ...words])).stdout
}

async function runInNetworks(script: string, words: readonly string[] = []) {
  const unshare = ["unshare", "--net", "--mount", "--"]
  const shell = ["sh", "-ec", `${makeNetworks()}\n${script}`, ...words]
  // A test that is given up takes its networks with it.
  const wrapped = ["--pdeathsig", "KILL", "--", ...unshare, ...shell]
  return await run("setpriv", wrapped, { maxBuffer: OUTPUT_BYTES_MAX })
}

/** A script that makes the far network, held by a process that ends with this one, and the way there. */
function makeNetworks(): string {
  const { site, site6, canaries } = FAR_ADDRESSES
  const addresses = [site, site6, ...canaries].map((address) => {
    return `ip address add ${withBits(address)} dev web1`
  })
  const far = [
    "ip link set lo up",
    "ip link set web1 up",
    ...addresses,
    `ip route add ${NEAR_ADDRESSES.own} dev web1`,
    `ip -6 route add ${NEAR_ADDRESSES.own6} dev web1`,
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
    `ip address add ${withBits(NEAR_ADDRESSES.own)} dev web0`,
    `ip address add ${withBits(NEAR_ADDRESSES.own6)} dev web0`,
    `nsenter --net=${FAR} sh -ec '${far}'`,
    "ip route add default dev web0",
    "ip -6 route add default dev web0",
    "export FAR_PID=$far",
  ].join("\n")
}

function withBits(address: string): string {
  return address.includes(":") ? `${address}/128 nodad` : `${address}/32`
}
