// A site's issuer and provider over real keys and a real revocation file, in one line.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { offlineIssuer, siteIssuerUrn } from '../../adapters/identity/offline/issuer.ts'
import { offlineProvider } from '../../adapters/identity/offline/provider.ts'
import { fileRevocations, prepareRevocations } from '../../adapters/identity/offline/revocations.ts'
import { openKeyFolder } from '../../adapters/keys/jose/key-folder.ts'
import { generateKey } from '../../adapters/keys/jose/key-lifecycle.ts'
import { issueToken, verifyToken } from '../../adapters/keys/jose/tokens.ts'

export const noon = Date.parse('2026-01-01T12:00:00Z')

export function createFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'platform-identity-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** `clock.now` is the time of issuer and provider; `counts.verified` counts real verifications. */
export async function createIdentityFixture(dir = createFolder(), maxKept = 10_000) {
  const keysDir = join(dir, 'keys')
  const file = prepareRevocations(dir)
  const key = await generateKey(keysDir, { use: 'token', now: noon })
  const clock = { now: noon }
  const counts = { verified: 0 }
  const refusals: string[] = []
  const keys = openKeyFolder(keysDir)
  const revocations = fileRevocations(file)
  const name = siteIssuerUrn('alpha')
  const verify = (token: string) => {
    counts.verified += 1
    const pinned = keys.keys().map((each) => each.public_key)
    return verifyToken(token, pinned, { issuer: name, audience: name, now: clock.now })
  }
  const now = () => clock.now
  const issuer = offlineIssuer({
    siteName: 'alpha',
    verify,
    revocations,
    now,
    random: (bytes) => randomBytes(bytes).toString('hex'),
    sign: (payload) => {
      const active = keys.keys().find(({ public_key }) => public_key.use === 'token' && public_key.status === 'active')
      if (!active) throw new Error('no token key')
      return issueToken(active, payload)
    },
  })
  const refused = (reason: string) => refusals.push(reason)
  const provider = offlineProvider({
    verify,
    revocations,
    keysStamp: keys.stamp,
    now,
    onRefused: refused,
    max_cached: maxKept,
  })
  return { dir, keysDir, file, key, clock, counts, refusals, keys, revocations, issuer, provider }
}
