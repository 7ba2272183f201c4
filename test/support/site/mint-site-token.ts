// Tokens by the key of a site, minted beside it as the command line does, without a process for each.
import { randomBytes } from 'node:crypto'
import { offlineIssuer } from '../../../adapters/identity/offline/issuer.ts'
import { fileRevocations } from '../../../adapters/identity/offline/revocations.ts'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { issueToken, type TokenPayload } from '../../../adapters/keys/jose/tokens.ts'
import { findSigner, readListedKeys } from '../../../daemon/boot/identity/token-key-list.ts'
import { revocationsFile, type SiteFolder } from '../../../daemon/boot/storage/site-folder.ts'

export type TokenHolder = {
  readonly subject?: string
  readonly roles?: readonly string[]
  readonly tenant?: string
  readonly clearance?: { level: string; categories?: string[]; nationality?: string }
  /** Of the token; a day by default. */
  readonly lifetime_s?: number
}

export type TokenIssuer = {
  readonly folder: SiteFolder
  readonly siteName: string
  readonly key: StoredKey
  /** In epoch milliseconds. */
  readonly now: number
}

/** By default an analyst with the highest clearance. */
export async function mintSiteToken(
  { folder, siteName, key, now }: TokenIssuer,
  who: TokenHolder & { readonly tenant: string },
): Promise<string> {
  const { subject = 'ann', roles = ['analyst'], tenant, clearance = { level: 'TOP_SECRET' }, lifetime_s = 86_400 } = who
  const issuer = offlineIssuer({
    siteName,
    sign: (payload) => issueToken(key, payload as TokenPayload),
    verify: async () => ({ refused: 'not_requested' }),
    revocations: fileRevocations(revocationsFile(folder)),
    now: () => now,
    random: (bytes) => randomBytes(bytes).toString('hex'),
  })
  return (await issuer.mint({ sub: subject, tenant_id: tenant, roles: [...roles], clearance }, lifetime_s)).token
}

/** The key that the command line would sign with. */
export function readActiveTokenKey(folder: SiteFolder): StoredKey {
  const key = findSigner(readKeyFiles(folder.keys), readListedKeys(folder))
  if (!key) throw new Error('the site has no active token key')
  return key
}
