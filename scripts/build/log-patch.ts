import type { MiniflarePatch } from "./miniflare-patch.ts"

/** Has Miniflare's simulators write what they warn of to their console, not to a server of its own. */
export const logPatch: MiniflarePatch = {
  worker: "shared",
  path: /[\\/]shared[\\/]index\.worker\.js$/,
  edits: [
    {
      from: "  async logWithLevel(level, message) {\n",
      to:
        "  async logWithLevel(level, message) {\n" +
        "    if (level <= LogLevel.WARN) console.warn(message);\n",
      times: 1,
    },
  ],
  additions: "",
}
