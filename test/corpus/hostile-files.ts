import { crc32, deflateSync } from "node:zlib"
import { manifest, playlist } from "./hostile-reading.ts"
import type { CanaryPaths } from "./canaries.ts"

type Content = string | Uint8Array<ArrayBuffer>

/** A text that names a film that lies elsewhere; `isFollowed` where plain ffprobe opens it. */
export type Pointer = { name: string; text: (place: CanaryPaths) => string; isFollowed: boolean }

export const POINTERS: Pointer[] = [
  { name: "a playlist", text: ({ outside }) => playlist(`${outside}/film.ts`), isFollowed: true },
  {
    name: "a playlist with file://",
    text: ({ outside }) => playlist(`file://${outside}/film.ts`),
    isFollowed: true,
  },
  {
    name: "a playlist of playlists",
    text: ({ outside }) =>
      `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\ndata:application/x-mpegurl;base64,${Buffer.from(playlist(`${outside}/film.ts`)).toString("base64")}\n`,
    isFollowed: false,
  },
  {
    name: "a playlist with a URL",
    text: ({ tcpPort }) => playlist(`http://127.0.0.1:${tcpPort}/a.ts`),
    isFollowed: false,
  },
  { name: "a manifest", text: ({ outside }) => manifest(`${outside}/film.mp4`), isFollowed: true },
  {
    name: "a manifest with a URL",
    text: ({ tcpPort }) => manifest(`http://127.0.0.1:${tcpPort}/a.mp4`),
    isFollowed: false,
  },
  {
    name: "a list",
    text: ({ outside }) => `ffconcat version 1.0\nfile ${outside}/film.ts\n`,
    isFollowed: false,
  },
  {
    name: "a session",
    text: ({ udpPort }) =>
      `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=a\nc=IN IP4 127.0.0.1\nt=0 0\nm=video ${udpPort} RTP/AVP 96\n`,
    isFollowed: false,
  },
  {
    name: "XSPF",
    text: ({ outside }) =>
      `<?xml version="1.0"?><playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList><track><location>file://${outside}/film.ts</location></track></trackList></playlist>`,
    isFollowed: false,
  },
  {
    name: "PLS",
    text: ({ outside }) => `[playlist]\nFile1=${outside}/film.ts\nNumberOfEntries=1\n`,
    isFollowed: false,
  },
  {
    name: "a manifest with an entity",
    text: ({ outside }) =>
      manifest("&x;").replace(
        "<MPD",
        `<!DOCTYPE MPD [<!ENTITY x SYSTEM "file://${outside}/secret">]><MPD`,
      ),
    isFollowed: false,
  },
  {
    name: "a drawing with an entity and a picture",
    text: ({ outside }) =>
      `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file://${outside}/secret">]><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="32"><image xlink:href="file://${outside}/picture.png" width="64" height="32"/><text>&x;</text></svg>`,
    isFollowed: false,
  },
]

/** Names that such a text may go by. */
export const DISGUISES = [
  "clip.mp4",
  "photo.jpg",
  "sound.wav",
  "film.mkv",
  "plain.txt",
  "list.m3u8",
]

/** Files that are small and would be large, or go on without end, if anybody believed them. */
export const BOMBS: Record<string, () => Content> = {
  "large.png": () => png({ side: 30_000, depth: 1 }),
  "profile.png": () => png({ side: 1, depth: 1, profileBytes: 300_000_000 }),
  "large.gif": () =>
    bytes(
      "GIF89a\xff\xff\xff\xff\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\xff\xff\xff\xff\0\u0002\u0002D\u0001\0;",
    ),
  "laughs.mpd": laughs,
  "laughs.svg": () =>
    laughs()
      .replace(
        /<MPD[\s\S]*<\/MPD>/,
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&a9;</text></svg>',
      )
      .replaceAll("MPD", "svg"),
  "large.svg": () =>
    '<svg xmlns="http://www.w3.org/2000/svg" width="2000000000" height="2000000000"><rect width="9" height="9"/></svg>',
  "large.bmp": () =>
    bytes(
      `BM${"\0".repeat(12)}(\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f\u0001\0\u0018\0${"\0".repeat(64)}`,
    ),
  "long.wav": () =>
    bytes(
      `RIFF\xff\xff\xff\xffWAVEfmt \u0010\0\0\0\u0001\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\u0008\0data\xff\xff\xff\xff${"x".repeat(99)}`,
    ),
  "atoms.mp4": () =>
    bytes(`\0\0\0\u0018ftypisom\0\0\0\0isomavc1${"\0\0\x10\0moov\0\0\x0f\xf8trak".repeat(300)}`),
  "sizes.mp4": () =>
    bytes(`\0\0\0\u0018ftypisom\0\0\0\0isomavc1\0\0\0\u0001moov${"\xff".repeat(64)}`),
  "frames.y4m": () =>
    `YUV4MPEG2 W100000 H100000 F1000000:1 Ip A0:0 C444\nFRAME\n${"x".repeat(999)}`,
  "lines.srt": () => "1\n00:00:00,000 --> 99:59:59,999\n<i><b><u>x\n\n".repeat(50_000),
  "itself.m3u8": () => playlist("itself.m3u8").replace("#EXT-X-ENDLIST\n", ""),
  "live.m3u8": () => playlist("file.ts").replace("#EXT-X-ENDLIST\n", ""),
  "zeros.mp4": () => new Uint8Array(2_000_000),
  "same.mp3": () => bytes("\xff\xfb\x90\0".repeat(100_000)),
  "elements.mkv": () =>
    bytes(`\u001aE\xdf\xa3\x80${"\u0018S\x80g\u0001\xff\xff\xff\xff\xff\xff\xff".repeat(2000)}`),
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "latin1"))
}

function laughs(): string {
  const entities = Array.from({ length: 9 }, (_, index) => {
    return `<!ENTITY a${index + 1} "${`&a${index};`.repeat(10)}">`
  })
  return manifest("&a9;").replace(
    "<MPD",
    `<!DOCTYPE MPD [<!ENTITY a0 "ha">${entities.join("")}]><MPD`,
  )
}

function png(of: { side: number; depth: number; profileBytes?: number }): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(of.side, 0)
  head.writeUInt32BE(of.side, 4)
  head[8] = of.depth
  const row = Math.ceil((of.side * of.depth) / 8) + 1
  const profile =
    of.profileBytes === undefined
      ? []
      : [
          chunk(
            "iCCP",
            Buffer.concat([Buffer.from("p\0\0"), deflateSync(Buffer.alloc(of.profileBytes))]),
          ),
        ]
  return new Uint8Array(
    Buffer.concat([
      Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
      chunk("IHDR", head),
      ...profile,
      chunk("IDAT", deflateSync(Buffer.alloc(row * of.side))),
      chunk("IEND", Buffer.alloc(0)),
    ]),
  )
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
