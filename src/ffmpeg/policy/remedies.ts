/**
 * Phrases by which messages tell the caller how to correct a refused command. The phrases use the
 * field names of one form of request.
 */
export type RemedyPhrases = {
  /** Remedy for a word that should name an input. */
  nameInput: string
  /** Remedy for a word that should name an output. */
  nameOutput: string
  nameEither: string
  /**
   * End of a remedy that tells the caller to declare an output. The phrase names the request field
   * for the output's file name.
   */
  nameItsFile: string
  /** Remedy for a file that an option reads. */
  giveFile: string
  /** Remedy for a path on the caller's own machine. */
  uploadFirst: string
  /** Remedy for an unknown file name after -i; null if another check reports the name. */
  giveInput: string | null
  /** Remedy for a URL that a command reads. */
  giveUrl: string
  endWithOutput: string
  /** Error text that follows the name of a key which the request does not declare. */
  isUnknown: string
  /** Remedy for a command line that contains a second command. */
  giveSeveral: string
}

/** Remedies with the field names of POST /commands. */
export const COMMAND_REMEDIES: RemedyPhrases = {
  nameInput: "write a key of input_files here",
  nameOutput: "write a key of output_files here",
  nameEither: "write a key of input_files or output_files here",
  nameItsFile: ", and its file name in output_files",
  giveFile: "upload the file, give its id in input_files and write its key here",
  uploadFirst:
    "upload it with POST /v1/files, give its id in input_files and write its key here, as in {{in_1}}",
  giveInput:
    "upload the file with POST /v1/files, give its id in input_files and write its key here, as in {{in_1}}",
  giveUrl: "put the URL in input_files and write its key here",
  endWithOutput: "end it with a key of output_files, or -f null -",
  isUnknown: "is not a key of input_files or output_files",
  giveSeveral: "write each command as an entry of ffmpeg_commands",
}

/** Remedies with the field names of POST /ffmpeg. */
export const FFMPEG_REMEDIES: RemedyPhrases = {
  nameInput: "write an input here, as in {{in_1}}",
  nameOutput: "write the output here, as {{out_1}} with output_filename",
  nameEither: "write an input or the output here, as in {{in_1}} or {{out_1}}",
  nameItsFile: "",
  giveFile: "give the URI of the file in inputs and write its key here, as in {{in_2}}",
  uploadFirst:
    "upload it with POST /v1/files, give svc_id://<its id> in inputs and write {{in_1}} here",
  giveInput: null,
  giveUrl: "give the same URL in inputs",
  endWithOutput: "end it with a file name, or give output_filename",
  isUnknown: "is neither an input (in_1, in_2 and so on) nor the output (out_1)",
  giveSeveral: "send each command in its own request",
}
