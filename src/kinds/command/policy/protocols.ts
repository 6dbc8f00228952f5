/** Everything that ffmpeg 5 to 9 takes for a protocol, `file` aside. */
const PROTOCOLS =
  "amqp async bluray cache concat concatf crypto data dtls fd ffrtmpcrypt ffrtmphttp ftp gopher gophers hls http httpproxy https icecast ipfs ipns libsrt md5 mmsh mmst pipe prompeg rist rtmp rtmpe rtmps rtmpt rtmpte rtmpts rtp rtsp sctp sftp shared smb srt srtp subfile tcp tee tls udp udplite unix zmq"

const NAMED = new RegExp(`^(?:file|${PROTOCOLS.replaceAll(" ", "|")})(?:[+,][^:]*)?:`, "i")

/** Whether a value begins with a protocol that ffmpeg knows, as `pipe:1` and `subfile,,start,0:` do. */
export function beginsWithProtocol(value: string): boolean {
  return NAMED.test(value)
}

/** Whether a value holds a URL of any scheme. */
export function holdsUrl(value: string): boolean {
  return /[a-z0-9+.-]:\/\//i.test(value)
}
