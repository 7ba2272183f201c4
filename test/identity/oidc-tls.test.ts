// The way to the provider: TLS by the authorities that the profile names, and exchange as the client that it knows.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { exchangeToken } from '../../adapters/identity/oidc/exchange-token.ts'
import { opensslAuthority } from '../support/keys/openssl-authority.ts'
import { requires } from '../support/runner/requires.ts'
import { buildAdaClaims, createSigningKey, signToken, startLocalIssuer } from './local-issuer.ts'
import { createOidcFixture } from './oidc-fixture.ts'

requires('openssl')('its certificate is of the authority in sso.ca_file, or nothing is judged', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'platform-oidc-tls-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const root = opensslAuthority(dir, 'root', Date.now())
  const other = opensslAuthority(dir, 'other', Date.now())
  const extensions = ['extendedKeyUsage=serverAuth', 'subjectAltName=IP:127.0.0.1']
  const key = await createSigningKey('k')
  const provider = await startLocalIssuer([key], root.issue({ subject: '/CN=idp', extensions }))
  onTestFinished(() => provider.close())
  const token = await signToken(key, buildAdaClaims(provider.issuer))
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const known = createOidcFixture(provider.issuer, { ca_file: file('root.pem', root.cert) })
  expect(await known.readVerdict(token)).toHaveProperty('sub', 'ada')
  expect(await createOidcFixture(provider.issuer, { tls_verify: false }).readVerdict(token)).toHaveProperty(
    'sub',
    'ada',
  )
  for (const change of [{}, { ca_file: file('other.pem', other.cert) }]) {
    const site = createOidcFixture(provider.issuer, change)
    await expect(site.readVerdict(token)).rejects.toMatchObject({ code: 'unavailable' })
    expect(site.logged.join()).toMatch(/UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER/)
  }
})

describe('exchange at the provider', () => {
  const client = { client_id: 'site:a', client_secret: 's e+c%ret/:' }
  const request = { subject_token: 'the-callers-token', audience: 'downstream' }

  /** Answers every POST with this, and keeps what it was sent. */
  async function endpoint(status: number, body: string) {
    const heard: { authorization?: string | undefined; form: Record<string, string> }[] = []
    const server = createServer(async (question, answer) => {
      let text = ''
      for await (const part of question) text += part
      heard.push({ authorization: question.headers.authorization, form: Object.fromEntries(new URLSearchParams(text)) })
      answer.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const token_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
    const provider = { issuer: 'https://idp.example', isVerified: true, token_url }
    return { heard, exchange: () => exchangeToken(provider, client, request) }
  }

  test('says who asks, for what, and gives back what it got', async () => {
    const grant = { access_token: 'theirs', token_type: 'Bearer', expires_in: 60 }
    const { heard, exchange } = await endpoint(200, JSON.stringify(grant))
    expect(await exchange()).toMatchObject(grant)
    expect(Buffer.from(heard[0]?.authorization?.replace('Basic ', '') ?? '', 'base64').toString()).toBe(
      'site%3Aa:s+e%2Bc%25ret%2F%3A',
    )
    expect(heard[0]?.form).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 'the-callers-token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'downstream',
    })
  })

  test('a refusal is one, with the provider’s own code', async () => {
    const { exchange } = await endpoint(400, '{"error":"invalid_grant","error_description":"token the-callers-token"}')
    const refused = await exchange()
    expect(refused).toMatchObject({ code: 'forbidden', message: 'the identity provider refused: invalid_grant' })
  })

  test.each([
    [500, '{"error":"server_error"}'],
    [200, '{"access_token":"x","token_type":"mac"}'],
    [200, '{}'],
    [302, '{"access_token":"x","token_type":"Bearer"}'],
    [401, '{"error":"two words, or a line\\nbreak"}'],
    [200, '<html>the-callers-token</html>'],
  ])('%i %s is not an answer, and nothing of the request is revealed', async (status, body) => {
    const { exchange } = await endpoint(status, body)
    const error = await exchange().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'unavailable' })
    expect(String(error)).not.toMatch(/the-callers-token|ret\//)
  })
})
