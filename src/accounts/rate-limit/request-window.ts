/**
 * Length of the window in which requests of a key are counted, in seconds. Plans limit requests per
 * minute, and `RateLimiter` compares that limit with the count of one window. A window of another
 * length would also need another limit there, and changes wherever a text says minute: grep for
 * `minute` and `w=60` in `src` and `docs`. The limit per network address is separate:
 * `REFUSED_KEYS` in wrangler.toml.
 */
export const WINDOW_SECONDS = 60
