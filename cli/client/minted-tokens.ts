// Tokens that are minted when they are needed, and again before they end: a command may run for longer than its first one.

/** `exp`: seconds since the epoch. */
export type ExpiringToken = { readonly token: string; readonly exp: number }

/** A token with less left is not used any more: the request that carries it has to arrive, and a clock may be ahead. */
const min_left_ms = 60_000

/** Returns the token for an audience. `now` in epoch milliseconds. A failure is not kept. */
export function mintedTokens(
  mint: (audience: string | undefined, now_ms: number) => Promise<ExpiringToken>,
  now: () => number,
): (audience: string | undefined) => Promise<string> {
  const minted = new Map<string | undefined, ExpiringToken>()
  return async (audience) => {
    const kept = minted.get(audience)
    if (kept && kept.exp * 1_000 - now() >= min_left_ms) return kept.token
    const renewed = await mint(audience, now())
    minted.set(audience, renewed)
    return renewed.token
  }
}
