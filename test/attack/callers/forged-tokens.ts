// Tokens that must not count, each forged or worn out in one way.
import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { roleAudienceUrn } from '../../../adapters/identity/offline/issuer.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { issueToken } from '../../../adapters/keys/jose/tokens.ts'
import { buildTokenClaims, type SingleClusterSite } from '../../support/site/single-cluster-site.ts'

/** Whoever holds such a token would be permitted everything. */
const admin = { sub: 'eve', roles: ['admin'], clearance: { level: 'TOP_SECRET', categories: [] } }

type TokenForger = (site: SingleClusterSite, owner: string) => string | Promise<string>

const now_s = () => Math.floor(Date.now() / 1_000)
const encodeSegment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const publicJwk = (site: SingleClusterSite) => site.tokenKey().public_key.jwk as JsonWebKey
const exportPublicKey = (site: SingleClusterSite) =>
  createPublicKey({ key: publicJwk(site), format: 'jwk' }).export({ format: 'pem', type: 'spki' })

/** The header of the test and the claims of an administrator, signed by HMAC with the secret, or unsigned. */
function buildToken(
  site: SingleClusterSite,
  header: Readonly<Record<string, unknown>>,
  secret?: string | Buffer,
): string {
  const { kid } = site.tokenKey().public_key
  const signed = `${encodeSegment({ typ: 'at+jwt', kid, ...header })}.${encodeSegment(buildTokenClaims(admin))}`
  return `${signed}.${secret === undefined ? '' : createHmac('sha256', secret).update(signed).digest('base64url')}`
}

export async function signByForeignKey(kid?: string): Promise<string> {
  const dir = mkdtempSync(path.join(tmpdir(), 'foreign-key-'))
  try {
    await generateKey(dir, { use: 'token', now: Date.now() })
    const [key] = readKeyFiles(dir)
    if (!key) throw new Error('no key was made')
    const named = kid === undefined ? key : { ...key, public_key: { ...key.public_key, kid } }
    return await issueToken(named, buildTokenClaims(admin))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** By the key that signs messages to peers. */
async function signByMessageKey({ folder, tokenKey }: SingleClusterSite): Promise<string> {
  const key = readKeyFiles(folder.keys).find(({ public_key: { use } }) => use === 'message')
  if (!key) throw new Error('the site has no message key')
  const { kid, use } = tokenKey().public_key
  return await issueToken({ ...key, public_key: { ...key.public_key, kid, use } }, buildTokenClaims(admin))
}

async function revokeToken(
  site: SingleClusterSite,
  owner: string,
  what: { jti: string } | { subject: string },
  token: string,
): Promise<string> {
  const list = () => site.request('consensus', { method: 'GET', path: '/api/v2/consensus/session', token })
  if ((await list()).status !== 200) throw new Error('the token must count before it is revoked')
  const body = { ...what, reason: 'test' }
  const path = '/api/v2/site/token/revocation'
  const answer = await site.request('site', { method: 'POST', path, token: owner, body })
  if (answer.status !== 200) throw new Error(answer.text)
  return token
}

/** Each is given to every role, so one that counts at a single role is not among them. */
export const tokenForgers: Readonly<Record<string, TokenForger>> = {
  expired: (site) => site.token(admin, { now_s: now_s() - 7_200 }),
  'not yet valid': (site) => site.token(admin, { now_s: now_s() + 7_200 }),
  'of another audience': (site) => site.token(admin, { aud: 'urn:platform:site:bravo' }),
  'for a role of another site': (site) => site.token(admin, { aud: roleAudienceUrn('bravo', 'consensus') }),
  'of another issuer': (site) => site.token(admin, { iss: 'urn:platform:site:bravo' }),
  'alg none': (site) => buildToken(site, { alg: 'none' }),
  'alg none with a signature': (site) => buildToken(site, { alg: 'none' }, 'x'),
  'HS256 with the public key (PEM)': (site) => buildToken(site, { alg: 'HS256' }, exportPublicKey(site)),
  'HS256 with the public key (JWK)': (site) => buildToken(site, { alg: 'HS256' }, JSON.stringify(publicJwk(site))),
  'HS256 with the public key (bytes)': (site) =>
    buildToken(site, { alg: 'HS256' }, Buffer.from(String(publicJwk(site).x), 'base64url')),
  'the right algorithm, another signature': (site) => buildToken(site, { alg: 'Ed25519' }, 'x'),
  'a foreign key': () => signByForeignKey(),
  'a foreign key under our name': (site) => signByForeignKey(site.tokenKey().public_key.kid),
  'the site’s key for another use': signByMessageKey,
  'a key of its own in the header': (site) => buildToken(site, { alg: 'Ed25519', jwk: publicJwk(site) }, 'x'),
  'the address of a key in the header': (site) =>
    buildToken(site, { alg: 'Ed25519', jku: 'https://keys.invalid/jwks' }, 'x'),
  'a key id that is a path': (site) => buildToken(site, { alg: 'Ed25519', kid: '../../../etc/passwd' }, 'x'),
  async 'changed in its claims'(site) {
    const [head, , signature] = (await site.token({ sub: 'eve' })).split('.')
    return `${head}.${encodeSegment(buildTokenClaims(admin))}.${signature}`
  },
  'revoked by its id': async (site, owner) =>
    revokeToken(site, owner, { jti: 'tok_lost' }, await site.token(admin, { jti: 'tok_lost' })),
  'of a revoked subject': async (site, owner) =>
    revokeToken(
      site,
      owner,
      { subject: 'mallory' },
      await site.token({ ...admin, sub: 'mallory' }, { now_s: now_s() - 10 }),
    ),
}
