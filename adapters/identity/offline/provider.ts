// The offline identity provider: verifies tokens of the issuers that the site trusts, once each, and caches the result.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { CredentialClaims, IdentityProvider } from '../../../daemon/kernel/identity/identity.ts'
import { type IssuedClaims, type TokenVerifier, verifyIssuedToken } from './issued-token.ts'
import type { Revocations } from './revocations.ts'

export type OfflineProviderOptions = {
  readonly verify: TokenVerifier
  readonly revocations: Revocations
  /** Changes whenever the token keys do (`KeyFolder.stamp`): the cache is cleared then. */
  readonly keysStamp: () => string
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Why a token was not accepted; never the token. */
  readonly onRefused?: (reason: string) => void
  /** Verified tokens to cache (default: 10,000). */
  readonly max_cached?: number
}

/**
 * A cached token costs one hash: expiry, revocation and the keys' stamp are checked each time, the signature once. Tokens
 * are cached by their digest, so that memory holds none.
 */
export function offlineProvider(options: OfflineProviderOptions): IdentityProvider {
  const { revocations, keysStamp, now, max_cached = 10_000 } = options
  const kept = new LRUCache<string, IssuedClaims>({ max: max_cached })
  let keptUnder = ''

  const known = (digest: string): IssuedClaims | undefined => {
    const stamp = keysStamp()
    if (stamp !== keptUnder) kept.clear()
    keptUnder = stamp
    const claims = kept.get(digest)
    if (!claims || now() < claims.exp * 1000) return claims
    kept.delete(digest)
    return undefined
  }

  const learn = async (bearer: string, digest: string): Promise<CredentialClaims | undefined> => {
    const under = keptUnder
    const verdict = await verifyIssuedToken(bearer, options.verify, revocations)
    if ('refused' in verdict) {
      options.onRefused?.(verdict.refused)
      return undefined
    }
    // The keys may have changed during the verification: then the token is accepted once, and not cached.
    if (under !== keptUnder) return verdict
    kept.set(digest, verdict)
    return verdict
  }

  return {
    name: 'offline',
    async verify(bearer) {
      if (bearer === undefined) return undefined
      const digest = hash('sha256', bearer, 'base64url')
      const claims = known(digest)
      if (!claims) return learn(bearer, digest)
      if (!revocations.isRevoked(claims)) return claims
      kept.delete(digest)
      options.onRefused?.('revoked')
      return undefined
    },
  }
}
