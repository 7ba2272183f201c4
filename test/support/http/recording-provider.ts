// An identity provider with token exchange, and every other service that a site calls: records what each is sent.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { buildAdaClaims, createSigningKey, signToken } from '../../identity/local-issuer.ts'

export type RecordedRequest = { readonly path: string; readonly head: string; readonly body: string }

export type RecordingProvider = {
  readonly issuer: string
  readonly requests: readonly RecordedRequest[]
  /** Answers of the token endpoint from now on: by the form, status and body. */
  answerExchange(answer: (form: URLSearchParams) => readonly [number, unknown]): void
  /** A token of Ada as the provider signs it; the audience is `audience`. */
  sign(now_ms: number, change?: Readonly<Record<string, unknown>>): Promise<string>
  close(): void
}

export const providerAudience = 'urn:example:site'

export async function startRecordingProvider(): Promise<RecordingProvider> {
  const key = await createSigningKey('k')
  const requests: RecordedRequest[] = []
  let exchange: (form: URLSearchParams) => readonly [number, unknown] = () => [500, {}]
  const answerTo = (path: string, body: string): readonly [number, unknown] => {
    if (path === '/.well-known/openid-configuration')
      return [200, { issuer, jwks_uri: `${issuer}/keys`, token_endpoint: `${issuer}/token` }]
    if (path === '/keys') return [200, { keys: [key.jwk] }]
    return path === '/token' ? exchange(new URLSearchParams(body)) : [200, { alerts: [] }]
  }
  const server = createServer(async (request, response) => {
    const { url: path = '', rawHeaders } = request
    const body = await text(request)
    requests.push({ path, head: rawHeaders.join('\n'), body })
    const [status, answer] = answerTo(path, body)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let signed = 0
  return {
    issuer,
    requests,
    answerExchange(answer) {
      exchange = answer
    },
    sign(now_ms, change = {}) {
      const own = { aud: providerAudience, tenant_id: 'tenant-a', jti: `tok-${++signed}` }
      return signToken(key, { ...buildAdaClaims(issuer, now_ms), ...own, ...change })
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
