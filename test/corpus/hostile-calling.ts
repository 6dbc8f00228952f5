import { BYTES, PICTURE, TONE } from "./attack.ts"
import type { Attack } from "./attack.ts"
import { manifest, playlist } from "./hostile-reading.ts"
import type { CanaryPaths } from "./canaries.ts"

const X264 = `${PICTURE} -pix_fmt yuv420p -c:v libx264`
const AAC = `${TONE} -c:a aac`

/** Addresses that an input may have, each with what it takes to read it. */
const ADDRESSES: [address: string, unproven?: string][] = [
  ["http://127.0.0.1:TCP/a.mp4"],
  ["http://localhost:TCP/a.mp4"],
  ["http://2130706433:TCP/a.mp4"],
  ["http://0x7f.1:TCP/a.mp4"],
  ["https://127.0.0.1:TCP/a.mp4"],
  ["tcp://127.0.0.1:TCP"],
  ["tls://127.0.0.1:TCP"],
  ["ftp://127.0.0.1:TCP/a.mp4"],
  ["rtmp://127.0.0.1:TCP/a/b"],
  ["rtmpt://127.0.0.1:TCP/a/b"],
  ["mmst://127.0.0.1:TCP/a"],
  ["mmsh://127.0.0.1:TCP/a"],
  ["gopher://127.0.0.1:TCP/a"],
  ["httpproxy:127.0.0.1:TCP"],
  ["sftp://127.0.0.1:TCP/a", "its library first prompts on a terminal"],
  ["async:http://127.0.0.1:TCP/a"],
  ["cache:http://127.0.0.1:TCP/a"],
  ["crypto+http://127.0.0.1:TCP/a", "it needs a key"],
  ["hls+http://127.0.0.1:TCP/a.m3u8"],
  ["unix:UNIX"],
]

/** Attacks that want to speak to something on the network. */
export const CALLING: Attack[] = [
  ...ADDRESSES.map(([address, unproven]): Attack => ({
    name: `an input from ${address}`,
    words: (place) => `${BYTES} -i "${fill(address, place)}" -f u8 out_1`,
    ...(unproven !== undefined && { unproven }),
  })),
  {
    name: "an output to TCP",
    words: ({ tcpPort }) => `${TONE} -f u8 tcp://127.0.0.1:${tcpPort} -f u8 out_1`,
  },
  {
    name: "an output to HTTP",
    words: ({ tcpPort }) => `${TONE} -f u8 http://127.0.0.1:${tcpPort}/ -f u8 out_1`,
  },
  {
    name: "an output to UDP",
    words: ({ udpPort }) => `${X264} -f mpegts udp://127.0.0.1:${udpPort} -f rawvideo out_1`,
  },
  {
    name: "an output to RTP",
    words: ({ udpPort }) => `${TONE} -f rtp rtp://127.0.0.1:${udpPort} -f u8 out_1`,
  },
  {
    name: "an output to SRTP and RTP in one",
    words: ({ udpPort }) => `${X264} -f rtp_mpegts rtp://127.0.0.1:${udpPort} -f rawvideo out_1`,
  },
  {
    name: "an output to UNIX",
    words: ({ unixPath }) => `${TONE} -f u8 unix:${unixPath} -f u8 out_1`,
  },
  {
    name: "an output to RTMP",
    words: ({ tcpPort }) => `${X264} -f flv rtmp://127.0.0.1:${tcpPort}/a/b -f rawvideo out_1`,
  },
  {
    name: "an output to Icecast",
    words: ({ tcpPort }) => `${TONE} -f ogg icecast://a:b@127.0.0.1:${tcpPort}/a -f u8 out_1`,
  },
  {
    name: "an output to RTSP",
    words: ({ tcpPort }) => `${AAC} -f rtsp rtsp://127.0.0.1:${tcpPort}/a -f u8 out_1`,
  },
  {
    name: "an announced session",
    words: ({ udpPort }) =>
      `${AAC} -f sap sap://127.0.0.1:${udpPort}?announce_port=${udpPort} -f u8 out_1`,
  },
  {
    name: "an output over SRT",
    words: ({ udpPort }) =>
      `${X264} -f mpegts srt://127.0.0.1:${udpPort}?connect_timeout=500 -f rawvideo out_1`,
  },
  {
    name: "an output over RIST",
    words: ({ udpPort }) => `${X264} -f mpegts rist://127.0.0.1:${udpPort} -f rawvideo out_1`,
    unproven: "it uses even ports only",
  },
  {
    name: "progress",
    words: ({ tcpPort }) => `-progress http://127.0.0.1:${tcpPort}/ ${TONE} -f u8 out_1`,
  },
  {
    name: "tee",
    words: ({ tcpPort }) =>
      `${TONE} -map 0 -c:a pcm_u8 -f tee "[f=u8]tcp://127.0.0.1:${tcpPort}|[f=u8]{{out_1}}"`,
  },
  {
    name: "the source movie",
    words: ({ tcpPort }) =>
      String.raw`-f lavfi -i 'movie=http\\://127.0.0.1\\:${tcpPort}/x.mp4' -f rawvideo out_1`,
  },
  {
    name: "an input from rtsp:",
    words: ({ tcpPort }) => `-rtsp_transport tcp -i rtsp://127.0.0.1:${tcpPort}/a -f u8 out_1`,
  },
  {
    name: "concat: and subfile: with a whitelist in the command",
    words: ({ tcpPort }) =>
      `-protocol_whitelist concat,subfile,file,http,tcp ${BYTES} -i "concat:subfile,,start,0,end,9,,:http://127.0.0.1:${tcpPort}/a" -f u8 out_1`,
  },
  {
    name: "the source amovie in a graph",
    words: ({ tcpPort }) =>
      String.raw`${TONE} -filter_complex "amovie='tcp\://127.0.0.1\:${tcpPort}':f=u8[a]" -map "[a]" -f u8 out_1`,
  },
  {
    name: "a filter's log of tags",
    words: ({ tcpPort }) =>
      String.raw`${PICTURE} -vf "metadata=print:file='tcp\://127.0.0.1\:${tcpPort}'" -f rawvideo out_1`,
  },
  {
    name: "subtitles",
    words: ({ tcpPort }) =>
      String.raw`${PICTURE} -vf "subtitles='http\://127.0.0.1\:${tcpPort}/a.srt'" -f rawvideo out_1`,
  },
  {
    name: "uploaded segments",
    words: ({ tcpPort }) =>
      `${AAC} -f hls -method PUT http://127.0.0.1:${tcpPort}/a.m3u8 -f u8 out_1`,
  },
  {
    name: "uploaded segments of DASH",
    words: ({ tcpPort }) =>
      `${AAC} -f dash -method PUT http://127.0.0.1:${tcpPort}/a.mpd -f u8 out_1`,
  },
  {
    name: "a key for HLS",
    words: () => `${AAC} -f hls -hls_key_info_file in_1 out_1`,
    inputs: ({ tcpPort }) => ({ in_1: ["key.txt", `key\nhttp://127.0.0.1:${tcpPort}/key\n`] }),
    outputs: { out_1: "out.m3u8" },
  },
  {
    name: "a key for HLS by a URL that is fetched",
    words: () => `${AAC} -f hls -hls_key_info_file in_1 out_1`,
    inputs: ({ tcpPort }) => ({
      in_1: ["key.txt", `http://127.0.0.1:${tcpPort}/a\nhttp://127.0.0.1:${tcpPort}/key\n`],
    }),
    outputs: { out_1: "out.m3u8" },
  },
  {
    name: "a graph file",
    words: () => `-f lavfi -i sine=d=0.1 -filter_complex_script in_1 -f u8 out_1`,
    inputs: ({ tcpPort }) => ({
      in_1: ["g.txt", String.raw`amovie='http\://127.0.0.1\:${tcpPort}/a.wav'`],
    }),
  },
  {
    name: "a proxy",
    words: ({ tcpPort }) =>
      `-http_proxy http://127.0.0.1:${tcpPort} -f u8 -i http://192.0.2.1/ -f u8 out_1`,
  },
  {
    name: "a playlist",
    words: () => "-protocol_whitelist file,http,tcp -f hls -i in_1 -c copy -f mpegts out_1",
    inputs: ({ tcpPort }) => ({ in_1: ["a.m3u8", playlist(`http://127.0.0.1:${tcpPort}/a.ts`)] }),
  },
  {
    name: "a playlist with the name of a song",
    words: () => "-protocol_whitelist file,http,tcp -i in_1 -c copy -f mpegts out_1",
    inputs: ({ tcpPort }) => ({ in_1: ["song.mp3", playlist(`http://127.0.0.1:${tcpPort}/a.ts`)] }),
  },
  {
    name: "a manifest",
    words: () => "-protocol_whitelist file,http,tcp -i in_1 -c copy -f mp4 out_1",
    inputs: ({ tcpPort }) => ({ in_1: ["a.mpd", manifest(`http://127.0.0.1:${tcpPort}/a.mp4`)] }),
  },
  {
    name: "a list",
    words: () => "-f concat -safe 0 -protocol_whitelist file,http,tcp -i in_1 -c copy -f u8 out_1",
    inputs: ({ tcpPort }) => ({ in_1: ["l.txt", `file http://127.0.0.1:${tcpPort}/a.wav\n`] }),
  },
  {
    name: "a list with options of its own",
    words: () => "-f concat -safe 0 -i in_1 -c copy -f u8 out_1",
    inputs: ({ tcpPort }) => ({
      in_1: [
        "l.txt",
        `ffconcat version 1.0\nfile http://127.0.0.1:${tcpPort}/a.wav\noption protocol_whitelist file,http,tcp\n`,
      ],
    }),
    unproven: "a list cannot extend the whitelist of the command",
  },
  {
    name: "a session in a file",
    words: () => "-protocol_whitelist file,udp,rtp,rtcp -t 1 -f sdp -i in_1 -f u8 out_1",
    inputs: ({ udpPort }) => ({
      in_1: [
        "a.sdp",
        `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=a\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio ${udpPort} RTP/AVP 0\n`,
      ],
    }),
    unproven: "it listens, and sends nothing first",
  },
  {
    name: "a server of its own",
    words: ({ unixPath }) => `-listen 1 -timeout 1 -f u8 -i unix:${unixPath}.own -f u8 out_1`,
    unproven: "it leaves no trace when it ends",
  },
  {
    name: "the screen",
    words: () => "-f x11grab -i 127.0.0.1:0 -frames:v 1 -f rawvideo out_1",
    unproven: "there is no screen",
  },
  {
    name: "a queue of messages",
    words: ({ tcpPort }) =>
      String.raw`${PICTURE} -vf "zmq=bind_address=tcp\\\://127.0.0.1\\\:${tcpPort}" -f rawvideo out_1`,
    unproven: "it listens, and the port is taken",
  },
]

function fill(address: string, { tcpPort, unixPath }: CanaryPaths): string {
  return address.replace("TCP", String(tcpPort)).replace("UNIX", unixPath)
}
