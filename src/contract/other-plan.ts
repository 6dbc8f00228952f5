/** The end of each sentence that tells of a limit of an account's plan. */
export const OTHER_PLAN =
  "ask the operator of this service for another plan; GET /v1/account shows limits and use"
