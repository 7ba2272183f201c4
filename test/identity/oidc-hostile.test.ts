// Tokens that were invented, altered, taken from elsewhere or found: none counts, with any claim.
import { createPublicKey, KeyObject, sign as signBytes } from 'node:crypto'
import { exportSPKI, importJWK, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { noon } from './identity-fixture.ts'
import {
  buildAdaClaims,
  createSigningKey,
  type LocalIssuer,
  type SigningKey,
  signToken,
  siteAudience,
  startIssuerForTest,
} from './local-issuer.ts'
import { createOidcFixture } from './oidc-fixture.ts'

const keys = {} as Record<'rs' | 'ps' | 'es' | 'es384' | 'ed' | 'ed25519' | 'other', SigningKey>
beforeAll(async () => {
  keys.rs = await createSigningKey('k-rs')
  keys.ps = await createSigningKey('k-ps', 'PS256')
  keys.es = await createSigningKey('k-es', 'ES256')
  keys.es384 = await createSigningKey('k-es384', 'ES384')
  keys.ed = await createSigningKey('k-ed', 'EdDSA')
  keys.ed25519 = await createSigningKey('k-ed25519', 'Ed25519')
  keys.other = await createSigningKey('k-rs')
})

async function createFixture(change: Parameters<typeof createOidcFixture>[1] = {}) {
  const issuer = await startIssuerForTest(keys.rs, keys.ps, keys.es, keys.es384, keys.ed, keys.ed25519)
  return { issuer, site: createOidcFixture(issuer.issuer, change) }
}

const encodeSegment = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** RS256 over any texts, also those that no library would write. */
function signWithRs256(header: string, body: string, key: SigningKey = keys.rs): string {
  const input = `${encodeSegment(header)}.${encodeSegment(body)}`
  const signature = signBytes('sha256', Buffer.from(input), KeyObject.from(key.privateKey))
  return `${input}.${signature.toString('base64url')}`
}

describe('an honest token', () => {
  test.each(['rs', 'ps', 'es', 'es384', 'ed', 'ed25519'] as const)(
    'signed by %s counts, in the words of the site',
    async (name) => {
      const { issuer, site } = await createFixture()
      expect(await site.readVerdict(await signToken(keys[name], buildAdaClaims(issuer.issuer)))).toEqual({
        sub: 'ada',
        tenant_id: 'alpha',
        roles: ['analyst'],
        clearance: { level: 'SECRET', categories: ['A'] },
        client_id: 'console',
        jti: 'tok-1',
        iat: noon / 1000,
        exp: noon / 1000 + 300,
      })
    },
  )

  test('of Keycloak says what it is in a claim instead', async () => {
    const { issuer, site } = await createFixture()
    const claims = { ...buildAdaClaims(issuer.issuer), typ: 'Bearer' }
    expect(await site.readVerdict(await signToken(keys.rs, claims, { typ: 'JWT' }))).toHaveProperty('sub', 'ada')
  })
})

describe('algorithms', () => {
  test('none is none, however it is spelled', async () => {
    const { issuer, site } = await createFixture()
    const bare = new UnsecuredJWT(buildAdaClaims(issuer.issuer)).encode()
    expect(await site.readVerdict(bare)).toBe('malformed')
    for (const alg of ['none', 'None', 'NONE', '']) {
      const head = encodeSegment({ alg, kid: 'k-rs', typ: 'at+jwt' })
      for (const end of ['', 'AAAA']) {
        expect(await site.readVerdict(`${head}.${encodeSegment(buildAdaClaims(issuer.issuer))}.${end}`)).toBe(
          'algorithm_not_allowed',
        )
      }
    }
  })

  test('HS256 with the public key as its secret, in every form that the key has', async () => {
    const { issuer, site } = await createFixture()
    const pem = await exportSPKI((await importJWK(keys.rs.jwk, 'RS256')) as never)
    const der = createPublicKey(pem).export({ type: 'spki', format: 'der' })
    for (const secret of [Buffer.from(pem), Buffer.from(pem.trim()), der, Buffer.from(String(keys.rs.jwk.n))]) {
      const token = await signToken(
        { kid: 'k-rs', alg: 'HS256', privateKey: new Uint8Array(secret) },
        buildAdaClaims(issuer.issuer),
      )
      expect(await site.readVerdict(token)).toBe('algorithm_not_allowed')
    }
  })

  test('HS256 is not taken when the provider publishes the secret either', async () => {
    const { issuer, site } = await createFixture()
    const secret = new Uint8Array(32)
    issuer.keys = [{ kty: 'oct', kid: 'k-hs', alg: 'HS256', k: Buffer.from(secret).toString('base64url') }]
    const token = await signToken({ kid: 'k-hs', alg: 'HS256', privateKey: secret }, buildAdaClaims(issuer.issuer))
    expect(await site.readVerdict(token)).toBe('algorithm_not_allowed')
  })

  test('a key verifies by its own algorithm, not by the one that the header names', async () => {
    const { issuer, site } = await createFixture()
    const rs = await signToken(keys.rs, buildAdaClaims(issuer.issuer), { kid: 'k-es' })
    expect(await site.readVerdict(rs)).toBe('bad_signature')
    const asPs = await signToken(keys.ps, buildAdaClaims(issuer.issuer), { kid: 'k-rs' })
    expect(await site.readVerdict(asPs)).toBe('bad_signature')
  })

  test('ignores an issuer that the profile does not list, though the provider has it', async () => {
    const { issuer, site } = await createFixture({ algorithms: ['ES384'] })
    expect(await site.readVerdict(await signToken(keys.rs, buildAdaClaims(issuer.issuer)))).toBe(
      'algorithm_not_allowed',
    )
    expect(await site.readVerdict(await signToken(keys.es384, buildAdaClaims(issuer.issuer)))).toHaveProperty('sub')
  })
})

describe('keys', () => {
  test('a stranger’s key under the name of the provider’s', async () => {
    const { issuer, site } = await createFixture()
    expect(await site.readVerdict(await signToken(keys.other, buildAdaClaims(issuer.issuer)))).toBe('bad_signature')
  })

  test('a header that brings its key, or says where to fetch it, is refused before it is looked at', async () => {
    const { issuer, site } = await createFixture()
    const trap = await startIssuerForTest(keys.other)
    const bringing = [
      { jwk: keys.other.jwk },
      { jku: `${trap.issuer}/keys` },
      { x5u: `${trap.issuer}/chain.pem` },
      { x5c: ['MIIB'] },
    ]
    for (const extra of bringing) {
      expect(await site.readVerdict(await signToken(keys.other, buildAdaClaims(issuer.issuer), extra))).toBe(
        'malformed',
      )
      expect(await site.readVerdict(await signToken(keys.rs, buildAdaClaims(issuer.issuer), extra))).toBe('malformed')
    }
    expect(trap.requestCounts.size).toBe(0)
  })

  test('refuses members that change the signed content', async () => {
    const { issuer, site } = await createFixture()
    const body = JSON.stringify(buildAdaClaims(issuer.issuer))
    for (const extra of [{ crit: ['b64'], b64: false }, { crit: [] }, { b64: true }, { zip: 'DEF' }, { cty: 'JWT' }]) {
      const header = JSON.stringify({ alg: 'RS256', kid: 'k-rs', typ: 'at+jwt', ...extra })
      expect(await site.readVerdict(signWithRs256(header, body))).toBe('malformed')
    }
  })

  test('names of keys are names: no path, no query, no member of an object', async () => {
    const { issuer, site } = await createFixture()
    for (const kid of ['../../dev/null', "k-rs' or 1=1", '__proto__', 'constructor', 'k-rs\0', 'k'.repeat(256)]) {
      site.clock.mono += 3_600_000
      expect(await site.readVerdict(await signToken(keys.rs, buildAdaClaims(issuer.issuer), { kid })), kid).toBe(
        'unknown_key',
      )
    }
    for (const kid of [undefined, '', 'k'.repeat(257), 7, null, ['k-rs']]) {
      const header = JSON.stringify({ alg: 'RS256', kid, typ: 'at+jwt' })
      expect(await site.readVerdict(signWithRs256(header, JSON.stringify(buildAdaClaims(issuer.issuer))))).toBe(
        'malformed',
      )
    }
    expect([...issuer.requestCounts.keys()]).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  test('keys other than signing keys, too short, private, or named twice do not count', async () => {
    const { issuer, site } = await createFixture()
    const unfit: unknown[] = [
      { ...keys.rs.jwk, use: 'enc' },
      { ...keys.rs.jwk, key_ops: ['encrypt'] },
      { ...keys.rs.jwk, alg: 'RS512' },
      { ...keys.rs.jwk, n: Buffer.alloc(128, 0xab).toString('base64url') },
      { ...keys.rs.jwk, d: 'AQAB' },
      { ...keys.rs.jwk, kid: undefined },
      { kty: 'RSA', kid: 'k-rs' },
      'k-rs',
    ]
    for (const jwk of [...unfit.map((each) => [each]), [keys.rs.jwk, keys.other.jwk]]) {
      issuer.keys = jwk
      site.clock.mono += 3_600_000 * 48
      expect(await site.readVerdict(await signToken(keys.rs, buildAdaClaims(issuer.issuer)))).toBe('unknown_key')
    }
  })
})

describe('form', () => {
  test('a member that stands twice is refused, in header and claims, wherever it is', async () => {
    const { issuer, site } = await createFixture()
    const header = '{"alg":"RS256","kid":"k-rs","typ":"at+jwt"}'
    const body = JSON.stringify(buildAdaClaims(issuer.issuer))
    expect(await site.readVerdict(signWithRs256(header, body))).toHaveProperty('sub')
    const twice = [
      [header, `${body.slice(0, -1)},"sub":"root"}`],
      [header, `{"tenant_id":"bravo",${body.slice(1)}`],
      [header, body.replace('"realm_access":{', '"realm_access":{"roles":["watcher"],')],
      [header, body.replace('"sub"', '"s\\u0075b":"root","sub"')],
      [`{"alg":"none",${header.slice(1)}`, body],
    ] as const
    for (const [head, claims] of twice) expect(await site.readVerdict(signWithRs256(head, claims))).toBe('malformed')
  })

  test('white space between members, and colons and quotes inside of strings, are nobody’s harm', async () => {
    const { issuer, site } = await createFixture()
    const odd = { ...buildAdaClaims(issuer.issuer), name: 'a:b "c":\\ {"d":1}', empty: {}, list: [{ 'x:y': [] }] }
    const token = signWithRs256(
      '{ "alg" : "RS256",\n"kid" : "k-rs", "typ" : "at+jwt" }',
      JSON.stringify(odd, undefined, 2),
    )
    expect(await site.readVerdict(token)).toHaveProperty('sub', 'ada')
  })

  test('huge, cut, extended, or not a token at all', async () => {
    const { issuer, site } = await createFixture()
    const token = await signToken(keys.rs, buildAdaClaims(issuer.issuer))
    expect(
      await site.readVerdict(await signToken(keys.rs, { ...buildAdaClaims(issuer.issuer), pad: 'x'.repeat(8_192) })),
    ).toBe('too_large')
    expect(await site.readVerdict('x'.repeat(1_000_000))).toBe('too_large')
    for (const text of ['', '.', '..', 'a.b.c', `${token}.x`, `${token}=`, ` ${token}`, 'null.null.null']) {
      expect(await site.readVerdict(text), text).toBe('malformed')
    }
    const [head = '', , signature = ''] = token.split('.')
    const promoted = encodeSegment({ ...buildAdaClaims(issuer.issuer), realm_access: { roles: ['watcher'] } })
    expect(await site.readVerdict(`${head}.${promoted}.${signature}`)).toBe('bad_signature')
    expect(await site.readVerdict(token.slice(0, -10))).toBe('bad_signature')
  })
})

describe('claims', () => {
  const cases: [string, (issuer: LocalIssuer) => Record<string, unknown>, string][] = [
    ['another issuer', () => ({ iss: 'https://idp.example' }), 'wrong_issuer'],
    ['the issuer with a slash', (i) => ({ iss: `${i.issuer}/` }), 'wrong_issuer'],
    ['another audience', () => ({ aud: 'account' }), 'wrong_audience'],
    ['no audience', () => ({ aud: [] }), 'wrong_audience'],
    ['an audience that begins like ours', () => ({ aud: `${siteAudience}:role:site` }), 'wrong_audience'],
    ['its end a minute ago', () => ({ exp: noon / 1000 - 60 }), 'expired'],
    ['its beginning in two minutes', () => ({ nbf: noon / 1000 + 120 }), 'not_yet_valid'],
    ['made in two minutes', () => ({ iat: noon / 1000 + 120 }), 'not_yet_valid'],
    ['an end that is a text', () => ({ exp: '9999999999' }), 'malformed'],
    ['no end', () => ({ exp: undefined }), 'malformed'],
    ['no subject', () => ({ sub: '' }), 'malformed'],
    ['no id', () => ({ jti: undefined }), 'malformed'],
    ['a key that its bearer must prove', () => ({ cnf: { jkt: 'x' } }), 'bound_to_a_key'],
    ['every tenant', () => ({ tenant_id: '*' }), 'reserved'],
    ['a role of the site as its subject', () => ({ sub: 'role:consensus' }), 'reserved'],
    ['two tenants', () => ({ tenant_id: ['alpha', 'bravo'] }), 'no_tenant'],
    ['no tenant', () => ({ tenant_id: undefined }), 'no_tenant'],
    ['a clearance of another shape', () => ({ clearance: { level: 3 } }), 'clearance'],
    ['roles of another shape', () => ({ roles: { examiner: true } }), 'roles'],
  ]
  test.each(cases)('with %s', async (_, change, reason) => {
    const { issuer, site } = await createFixture()
    expect(
      await site.readVerdict(await signToken(keys.rs, { ...buildAdaClaims(issuer.issuer), ...change(issuer) })),
    ).toBe(reason)
  })

  test('times are judged with the skew, and no more', async () => {
    const { issuer, site } = await createFixture()
    const late = await signToken(keys.rs, { ...buildAdaClaims(issuer.issuer), exp: noon / 1000 - 59 })
    const early = await signToken(keys.rs, { ...buildAdaClaims(issuer.issuer), nbf: noon / 1000 + 60 })
    expect(await site.readVerdict(late)).toHaveProperty('sub')
    expect(await site.readVerdict(early)).toHaveProperty('sub')
    site.clock.now += 1_000
    expect(await site.readVerdict(late)).toBe('expired')
  })

  test('an ID, refresh or logout token is not an access token, nor is one without a type', async () => {
    const { issuer, site } = await createFixture()
    const kinds: [string | undefined, string | undefined][] = [
      ['JWT', 'ID'],
      ['JWT', 'Refresh'],
      ['JWT', 'Logout'],
      ['JWT', undefined],
      [undefined, undefined],
      ['logout+jwt', undefined],
      ['at+jwt', 'ID'],
      ['dpop+jwt', 'Bearer'],
      ['secevent+jwt', 'Bearer'],
    ]
    for (const [typ, claimed] of kinds) {
      const token = await signToken(keys.rs, { ...buildAdaClaims(issuer.issuer), typ: claimed }, { typ })
      expect(await site.readVerdict(token), `${typ} ${claimed}`).toBe('not_an_access_token')
    }
  })

  test('issued to a client that the profile does not list', async () => {
    const { issuer, site } = await createFixture({ authorized_parties: ['console'] })
    expect(await site.readVerdict(await signToken(keys.rs, buildAdaClaims(issuer.issuer)))).toHaveProperty('sub')
    for (const azp of ['toy', undefined, 'console ']) {
      expect(await site.readVerdict(await signToken(keys.rs, { ...buildAdaClaims(issuer.issuer), azp }))).toBe(
        'wrong_client',
      )
    }
  })
})
