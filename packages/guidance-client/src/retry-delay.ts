// The pause before a further attempt: it doubles from the base to the cap, and half of it is random.

/** `attempt`: 1 before the first repeat. `random`: from 0 to 1, so that many clients do not repeat at once. */
export function retryDelay(
  attempt: number,
  { retry_base_ms, retry_cap_ms }: { readonly retry_base_ms: number; readonly retry_cap_ms: number },
  random: number,
): number {
  const longest = Math.min(retry_cap_ms, retry_base_ms * 2 ** (attempt - 1))
  return longest / 2 + (longest / 2) * random
}
