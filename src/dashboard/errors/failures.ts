import type { FailureCode } from "../../contract/failure.ts"
import type { Explained } from "./explained.ts"

type Failed = Explained & { title: string }

const OTHER_SIDE =
  "It was tried several times. Check the URL in a browser, and send the job again later: POST /v1/jobs/{id}/retry."
const SEND_AGAIN = "Send the job again: POST /v1/jobs/{id}/retry."
const READ_LINES = "`processing_errors` has what the tool said last."

/** Every code that a job or a file fails with. */
export const FAILURES: Record<FailureCode, Failed> = {
  canceled: {
    title: "The job was canceled",
    means: "Its caller canceled it, or deleted it, or the job that needed it ended before.",
    remedy: SEND_AGAIN,
    message: "The job was canceled.",
  },
  command_failed: {
    title: "ffmpeg ended with an error",
    means: "The command began and did not succeed, for a reason that has no code of its own.",
    remedy: `Read the message; ${READ_LINES} Change the command and send it again.`,
    message: "ffmpeg failed: Conversion failed!",
  },
  connection_failed: {
    title: "The site could not be reached",
    means: "There is no such host, it refused the connection, or its certificate is not valid.",
    remedy: OTHER_SIDE,
    message: "The certificate of example.com has expired: check the URL, and try again later.",
  },
  cpu_limit: {
    title: "The work used all its processor time",
    means: "A job may use so much processor time, and this one needed more.",
    remedy: "Use a faster preset, a smaller picture or a shorter part, or split the work.",
    message: "It was stopped: it used all the processor time that it may have.",
  },
  decoder_not_found: {
    title: "There is no such decoder",
    means: "The command names a decoder that the ffmpeg here has not, or an input needs one.",
    remedy: "Leave the decoder out, so that ffmpeg chooses one; convert the input elsewhere.",
    message: 'There is no decoder "h264_cuvid".',
  },
  disk_full: {
    title: "The machine had no room",
    means: "The disk of the machine that did the work was full; the job is not to blame.",
    remedy: `${SEND_AGAIN} If it goes on, tell the operator.`,
    message: "There was no space left on the disk.",
  },
  disk_limit: {
    title: "The job wrote too much",
    means: "A job's inputs and outputs have so many bytes and files that they may take together.",
    remedy: "Write smaller or fewer outputs, or bound endless ones by -t; split the work.",
    message: "It was stopped: a job may write 20 GiB in 10000 files.",
  },
  drm_protected: {
    title: "The media are protected by DRM",
    means: "The media are encrypted, and nobody but the site's own player has the key.",
    remedy: "Nothing helps; use a source without DRM.",
    message: "This video is protected by DRM, so that it cannot be fetched.",
  },
  encoder_not_found: {
    title: "There is no such encoder",
    means: "The command names an encoder that the ffmpeg here has not, or a format needs one.",
    remedy: "Use another encoder of the same codec, such as libx264 for H.264.",
    message: 'There is no encoder "h264_nvenc".',
  },
  expired: {
    title: "The job waited too long",
    means: "No runner had room for it within the time that a job may wait.",
    remedy: SEND_AGAIN,
    message: "No runner had room for this job for too long; it can be sent again.",
  },
  file_limit: {
    title: "A file is too large, or there are too many",
    means: "One file may have so many bytes, and a command may write 5,000 files.",
    remedy: "Bound the output by -t or -fs, lower its rate, or write fewer files.",
    message: "It was stopped: a file may have at most 4 GiB.",
  },
  filter_error: {
    title: "A filter cannot work so",
    means: "ffmpeg knows no such filter or option, or the filter does not take the values.",
    remedy: `Change the filter that the message names; ${READ_LINES}`,
    message: 'Option "size" of the filter "scale": Invalid argument.',
  },
  geo_blocked: {
    title: "The site does not show it here",
    means: "The site shows the media in some countries alone, and the service is in none of them.",
    remedy: "Download it where it is shown, and upload the file with POST /v1/files.",
    message: "The site does not show this video in the country that this service asks from.",
  },
  incomplete: {
    title: "Not all of the file came",
    means: "The connection ended before all bytes had come.",
    remedy: OTHER_SIDE,
    message: "The connection ended after 1048576 of 5242880 bytes; try again later.",
  },
  input_deleted: {
    title: "An input was deleted",
    means: "A file that the job reads was deleted after the job was made.",
    remedy: "Upload the file again, and send the job again with its new id.",
    message: "The input in_1 was deleted before the job could read it.",
  },
  input_failed: {
    title: "An input could not be read",
    means:
      "An input that was to be brought in from a URL failed, or could not be read from storage.",
    remedy: "The message says why; bring the input in again, and send the job again.",
    message: "The input in_1 could not be brought in: There is nothing at the URL: check it.",
  },
  inputs_too_large: {
    title: "The inputs do not fit",
    means: "The inputs together have more bytes than the disk that the work is done on can hold.",
    remedy: "Use fewer or smaller inputs, or split the work.",
    message:
      "The inputs have 30 GiB together, and the disk that the work is done on can hold 20 GiB of them.",
  },
  internal: {
    title: "Something failed inside the service",
    means: "The service failed, not the job; it was tried several times.",
    remedy: `${SEND_AGAIN} If it goes on, tell the operator the job's id.`,
    message: "The runner failed.",
  },
  invalid_input: {
    title: "An input cannot be used",
    means: "An input is damaged, no media file, of another kind than its use, or not there.",
    remedy: "Check that the file plays elsewhere, and that names in the command are right.",
    message: '"in_1.mp4" is damaged, or not a media file that can be read.',
  },
  invalid_option: {
    title: "An option cannot be used so",
    means: "ffmpeg knows no such option, or the option does not take its value.",
    remedy: `Change the option that the message names; ${READ_LINES}`,
    message: 'The option "-preset" does not take "quickest".',
  },
  live_stream: {
    title: "It is a live stream",
    means: "The media go on, or did not begin yet, so that they have no end to fetch to.",
    remedy: "Fetch it when it is over.",
    message: "This is a live stream that goes on: fetch it when it is over.",
  },
  login_required: {
    title: "The site wants a log-in",
    means: "The site shows the media to those alone who are logged in, or who paid.",
    remedy: "Give POST /v1/fetch the `cookies` of an account that may see them.",
    message:
      "The site shows this video to those who are logged in alone: give POST /fetch the cookies of an account that may see it.",
  },
  no_audio: {
    title: "The input has no sound",
    means: "The work is about sound, and no stream of the input has any.",
    remedy: "Use an input that has an audio stream; `ffprobe` of its File lists the streams.",
    message: "The input has no sound: there is no audio stream in it.",
  },
  no_output: {
    title: "An output is empty or missing",
    means: "ffmpeg ended well, and an output that was to hold picture or sound holds none.",
    remedy:
      "The message has the likely cause: often -ss behind the end, or a filter that lets nothing through.",
    message: 'The output out_1 ("clip.mp4") holds no frame: -ss seeks behind the end of in_1.',
  },
  no_video: {
    title: "The source has no picture",
    means: "The work makes pictures, and the source has no video stream; a cover is none.",
    remedy: "Use a source with a video stream. For sound alone use POST /v1/commands.",
    message: "The source has no picture: there is no video stream in it.",
  },
  not_found: {
    title: "There is nothing at the URL",
    means: "The site says that there is nothing at the URL, or nothing any more.",
    remedy: "Check the URL in a browser.",
    message: "There is nothing at the URL: check it. It answered 404.",
  },
  out_of_memory: {
    title: "The work needs too much memory",
    means: "The work needs more memory than a job may have.",
    remedy: "Use a smaller picture, fewer filters that keep frames, or fewer outputs at once.",
    message: "The command needs more memory than there is.",
  },
  output_limit: {
    title: "The tool said too much",
    means: "What ffmpeg wrote about itself, or what a runner reported, is too long.",
    remedy: "Leave -loglevel debug out, and filters that print a line for each frame.",
    message: "It was stopped: it said more than 16 MiB about itself.",
  },
  playlist_not_supported: {
    title: "The page has several videos",
    means: "The URL is one of a playlist, a channel or an album.",
    remedy: "Give the URL of one of them.",
    message: "This is a page of 12 videos: give the URL of one of them.",
  },
  probe_failed: {
    title: "The file is no media file",
    means: "ffprobe cannot read the file. Its bytes are kept, and it can be downloaded.",
    remedy: "Check that the file is whole and plays elsewhere, and upload it again.",
    message: "This is not a media file that can be read: Invalid data found when processing input.",
  },
  process_limit: {
    title: "The work needs too many threads",
    means: "The work needs more processes or threads than a job may have.",
    remedy: "Use fewer filters and outputs at once, or bound them by -threads.",
    message: "The command needs more threads than it may have.",
  },
  rate_limited_by_site: {
    title: "The site refuses so many requests",
    means: "The site had too many requests from this service, or takes it for a robot.",
    remedy: "Try it later, or give POST /v1/fetch the `cookies` of an account there.",
    message: "The server gets too many requests; try again later. It answered 429.",
  },
  runner_lost: {
    title: "The machines that did the work were lost",
    means: "The machine that worked on the job went away, and so did those that tried it after.",
    remedy: `${SEND_AGAIN} A job that ends so each time likely needs too much: make it smaller.`,
    message: "The machines that worked on this job were lost too often; it can be sent again.",
  },
  secrets_lost: {
    title: "The cookies can no longer be read",
    means:
      "Cookies are stored encrypted, and the operator of this service has replaced the secret that they were encrypted under.",
    remedy: "Send the request again, with its cookies.",
    message:
      "It could not start: the cookies that came with it can no longer be read, since this service has another secret than it had then; send the request again.",
  },
  server_error: {
    title: "The site answered with an error",
    means: "The site failed to send what the URL names.",
    remedy: OTHER_SIDE,
    message: "The server failed to send what the URL names; try again later. It answered 500.",
  },
  site_changed: {
    title: "The site is not as yt-dlp knows it",
    means: "yt-dlp does not understand the site's pages any more.",
    remedy: "Tell the operator, who can install a newer yt-dlp.",
    message: "The site is not as this service knows it: tell the operator of the service.",
  },
  stream_not_found: {
    title: "A stream is not there",
    means: "-map, or a filter, asks for a stream that no input has.",
    remedy: "`ffprobe` of an input's File lists its streams; a map ending in ? may find none.",
    message: 'The map "0:a:1" matches no stream of the inputs.',
  },
  time_limit: {
    title: "The work took too long",
    means: "A job may take so long, as its plan says, and this one was not done by then.",
    remedy:
      "Use a faster preset or a shorter part, split the work, or bound it by -t. The message names inputs and filters that have no end.",
    message: "It was stopped: a job may take 30 minutes.",
  },
  too_large: {
    title: "The file is too large",
    means: "What is at the URL has more bytes than a file of the account may have.",
    remedy: "Ask for a lower `quality` or a part of it, or ask the operator for a larger plan.",
    message:
      "The video has 6 GiB, and a file may have at most 4 GiB: ask for a lower quality, for a part of it, or ask the operator of this service for another plan; GET /v1/account shows limits and use.",
  },
  too_many_redirects: {
    title: "The site redirects too often",
    means: "The site redirects in a circle, or more often than is followed.",
    remedy: "Open the URL in a browser, and give the one that it ends at.",
    message:
      "There are more than 10 redirects: open the URL in a browser, and give the one that it ends at.",
  },
  too_slow: {
    title: "The site sent too slowly",
    means: "The site did not answer in time, or sent fewer than 1 KiB a second.",
    remedy: OTHER_SIDE,
    message: "example.com did not answer in time: try again later.",
  },
  unsupported_site: {
    title: "No video was found",
    means: "The page at the URL shows no video that can be fetched.",
    remedy: "Give the URL of the file itself, or of the page that shows the video.",
    message: "No video that can be fetched is on this page: give the URL of a page that shows one.",
  },
  url_not_allowed: {
    title: "The URL may not be asked",
    means:
      "The URL, or what it redirects to, is no public address of the web, or none of the sites that the operator allows.",
    remedy: "Give an http or https URL of a public host, or upload the file with POST /v1/files.",
    message: 'The host "intranet.example" resolves to a private address.',
  },
}
