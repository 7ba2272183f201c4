// Tokens of an identity provider, judged for this site: by its keys as they are now, its claims in the site's words.
import { type ClaimMapping, mapClaims, type ProviderClaims } from './claim-rules.ts'
import { fetchKeySet, type OidcProvider } from './discovery.ts'
import { type KeyCacheOptions, keyCache } from './key-cache.ts'

export type OidcOptions<K> = Omit<KeyCacheOptions<K>, 'fetchKeys'> & {
  readonly provider: OidcProvider
  readonly mapping: ClaimMapping
  /** The keys of a JWKS that count; throws for what is none. */
  readonly parseKeys: (jwks: unknown) => readonly K[]
  /** Judges form, signature, issuer, audience and times; asks for a key by its name when all else is right. */
  readonly verifyToken: (
    token: string,
    keyOf: (kid: string) => Promise<K | undefined>,
  ) => Promise<{ readonly payload: ProviderClaims } | { readonly refused: string }>
}

export interface OidcVerifier {
  /** What the token says in the site's words, or why it does not count. Throws `Refusal('unavailable')`. */
  verify(token: string): Promise<{ readonly payload: Readonly<Record<string, unknown>> } | { readonly refused: string }>
  /** Changes whenever the keys do, and when they are too old to count. */
  stamp(): string
  /** Whether tokens can be judged by what is known now. */
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
