// Signs claims as they are with a key of the site: tokens that no code of the site would issue.
import { siteIssuerUrn } from '../../../adapters/identity/offline/issuer.ts'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { issueToken } from '../../../adapters/keys/jose/tokens.ts'
import type { TestSite } from '../site/test-site.ts'

type UnverifiedClaims = Readonly<Record<string, unknown>>

let signed = 0

/** Of Pat, an analyst, where the claims name nobody else. */
export function signClaims(
  world: TestSite,
  key: StoredKey | undefined,
  claims: UnverifiedClaims,
  ttl_s: number,
): Promise<string> {
  if (!key) throw new Error('there is no such key')
  const iat = Math.floor(world.clock.now() / 1_000)
  const iss = siteIssuerUrn(world.name)
  const pat = { sub: 'pat', client_id: 'pat', tenant_id: world.tenant, roles: ['analyst'], jti: `tok_${++signed}` }
  return issueToken(key, { iss, aud: iss, ...pat, ...claims, iat, exp: iat + ttl_s })
}

/** By the key of the site's own issuer. */
export function signAsSite(world: TestSite, claims: UnverifiedClaims, ttl_s = 300): Promise<string> {
  const key = readKeyFiles(world.folder.keys).find(({ public_key }) => public_key.use === 'token')
  return signClaims(world, key, claims, ttl_s)
}
