/**
 * Length of the window in which requests of a key are counted, in seconds. Plans limit requests per
 * minute, and `RateLimiter` compares that limit with the count of one window. A window of another
 * length would need a conversion of the limit in `RateLimiter`, and changes of all texts that `grep
 * -rniE "per_?minute|a minute|w=60" src docs test` finds. Separate windows limit network addresses
 * (`REFUSED_KEYS` in wrangler.toml), sign-ins (`src/accounts/sign-in/limits.ts`) and unknown upload
 * links.
 */
export const RATE_LIMIT_WINDOW_SECONDS = 60
