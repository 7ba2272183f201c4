// A token endpoint by RFC 7523 and RFC 6749, and a gate before a server that takes its tokens alone; both over TLS.
import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as requestPlain, type ServerResponse } from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { type JWTPayload, jwtVerify } from 'jose'
import type { ServerCertificateFiles } from '../engines/server-certificates.ts'

export type TokenGate = {
  /** Origin of both. */
  readonly url: string
  readonly port: number
  /** Of tokens that were issued, newest last. */
  readonly issued: { readonly form: URLSearchParams; readonly claims: JWTPayload | undefined }[]
  close(): void
}

export type TokenRule = {
  readonly path: string
  /** Beginning of paths that need no token. */
  readonly open_path?: string
  /** Of assertions. */
  readonly public_key?: string
  /** Why a form gets no token, besides an assertion that does not verify. */
  refusal(form: URLSearchParams, claims: JWTPayload | undefined): string | undefined
}

/** `serve`: requests with a token; or the port of a server on this machine to which they are passed on. */
export async function startTokenGate(
  tls: ServerCertificateFiles,
  rule: TokenRule,
  serve: number | ((request: IncomingMessage, response: ServerResponse) => void),
): Promise<TokenGate> {
  const tokens = new Set<string>()
  const issued: TokenGate['issued'] = []
  const key = rule.public_key === undefined ? undefined : createPublicKey(rule.public_key)
  const issue = async (request: IncomingMessage, response: ServerResponse) => {
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
    const claims = await verify(form, key, `${url}${rule.path}`)
    const isUnproven = key !== undefined && claims === undefined && !form.has('client_secret')
    const error = isUnproven ? 'invalid_grant' : rule.refusal(form, claims)
    response.setHeader('content-type', 'application/json')
    if (error !== undefined)
      return response.writeHead(400).end(JSON.stringify({ error, error_description: form.toString() }))
    const access_token = randomBytes(24).toString('base64url')
    tokens.add(access_token)
    issued.push({ form, claims })
    return response.end(JSON.stringify({ access_token, expires_in: 3_599, token_type: 'Bearer' }))
  }
  const server = https.createServer(
    { cert: readFileSync(tls.cert), key: readFileSync(tls.key) },
    (request, response) => {
      if (request.method === 'POST' && request.url === rule.path) return void issue(request, response)
      const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
      if (typeof serve === 'number' && tokens.has(token)) return pass(request, response, serve)
      const isOpen = rule.open_path !== undefined && request.url?.startsWith(rule.open_path)
      if (typeof serve !== 'number' && (tokens.has(token) || isOpen)) return serve(request, response)
      response.writeHead(401).end('{"error": {"code": 401, "message": "Invalid Credentials"}}')
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `https://127.0.0.1:${port}`
  return {
    ...{ url, port, issued },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function verify(
  form: URLSearchParams,
  key: KeyObject | undefined,
  audience: string,
): Promise<JWTPayload | undefined> {
  const assertion = form.get('assertion') ?? form.get('client_assertion')
  if (!key || assertion === null) return undefined
  const verified = await jwtVerify(assertion, key, { audience, algorithms: ['RS256', 'PS256'], maxTokenAge: 60 }).catch(
    () => undefined,
  )
  return verified?.payload
}

function pass(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { authorization: _, ...headers } = request.headers
  const options = { host: '127.0.0.1', port, method: request.method, path: request.url, headers }
  const passed = requestPlain(options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  passed.on('error', () => response.destroy())
  request.pipe(passed)
}
