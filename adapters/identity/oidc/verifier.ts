// Verifies tokens of an identity provider with its current keys, and maps their claims to this site.
import { type ClaimMapping, mapClaims, type ProviderClaims } from './claim-rules.ts'
import { fetchKeySet, type OidcProvider } from './discovery.ts'
import { type KeyCacheOptions, keyCache } from './key-cache.ts'

export type OidcOptions<K> = Omit<KeyCacheOptions<K>, 'fetchKeys'> & {
  readonly provider: OidcProvider
  readonly mapping: ClaimMapping
  /** The usable keys of a JWKS; throws for an invalid one. */
  readonly parseKeys: (jwks: unknown) => readonly K[]
  /** Verifies form, signature, issuer, audience and times; looks up the key only when all else is valid. */
  readonly verifyToken: (
    token: string,
    keyOf: (kid: string) => Promise<K | undefined>,
  ) => Promise<{ readonly payload: ProviderClaims } | { readonly refused: string }>
}

export interface OidcVerifier {
  /** The claims of the token mapped to the site, or why it is refused. Throws `Refusal('unavailable')`. */
  verify(token: string): Promise<{ readonly payload: Readonly<Record<string, unknown>> } | { readonly refused: string }>
  /** Changes whenever the keys do, and when they become too old to use. */
  stamp(): string
  /** Whether tokens can be verified now. */
  health(): { readonly ok: boolean; readonly detail: string }
}

export function oidcVerifier<K extends { readonly kid: string; readonly fingerprint: string }>(
  options: OidcOptions<K>,
): OidcVerifier {
  const { provider, mapping, parseKeys, verifyToken } = options
  const cache = keyCache<K>({ ...options, fetchKeys: async () => parseKeys(await fetchKeySet(provider)) })
  return {
    stamp: cache.stamp,
    health: cache.health,
    async verify(token) {
      const verdict = await verifyToken(token, cache.find)
      return 'refused' in verdict ? verdict : mapClaims(verdict.payload, mapping)
    },
  }
}
