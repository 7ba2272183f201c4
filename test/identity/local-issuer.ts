// An identity provider on this machine for hostile tests: a real HTTP server whose keys and moods the test changes.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import { noon } from './identity-fixture.ts'

export type SigningKey = {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly jwk: Record<string, unknown>
}

export async function createSigningKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

export type LocalIssuer = {
  readonly issuer: string
  /** The keys of the JWKS. */
  keys: unknown[]
  /** Changes to its discovery document. */
  discovery: Record<string, unknown>
  /** Instead of an answer: an HTTP status with this body. */
  failure: undefined | { status: number; body: string; headers?: Record<string, string> }
  /** The number of requests for each path. */
  readonly requestCounts: Map<string, number>
  /** Holds back every answer, of this path or of all, until the returned function runs; then they go out unchanged. */
  hold(path?: string): () => void
  close(): void
}

/** `close` it when done. */
export async function startLocalIssuer(
  keys: readonly SigningKey[],
  tls?: { readonly cert: string; readonly key: string },
): Promise<LocalIssuer> {
  let held: { readonly path: string | undefined; readonly until: Promise<void> } | undefined
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const path = parsePath(request)
    issuer.requestCounts.set(path, (issuer.requestCounts.get(path) ?? 0) + 1)
    const answer = JSON.stringify(answerTo(path))
    if (held && (held.path ?? path) === path) await held.until
    if (issuer.failure) response.writeHead(issuer.failure.status, issuer.failure.headers).end(issuer.failure.body)
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  }
  const server = (tls ? https.createServer(tls, serve) : createServer(serve)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer: LocalIssuer = {
    issuer: base,
    keys: keys.map(({ jwk }) => jwk),
    discovery: {},
    failure: undefined,
    requestCounts: new Map(),
    hold(path) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = { path, until: promise }
      return () => {
        held = undefined
        resolve()
      }
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  const answerTo = (path: string) =>
    path === '/keys' ? { keys: issuer.keys } : { issuer: base, jwks_uri: `${base}/keys`, ...issuer.discovery }
  return issuer
}

function parsePath({ url = '' }: IncomingMessage): string {
  return url
}

/** Ended with the test. */
export async function startIssuerForTest(...keys: readonly SigningKey[]): Promise<LocalIssuer> {
  const issuer = await startLocalIssuer(keys)
  onTestFinished(() => issuer.close())
  return issuer
}

export const siteAudience = 'urn:example:site:alpha'

/** The claims that an honest provider writes for Ada at noon. */
export function buildAdaClaims(iss: string, now_ms = noon) {
  const iat = Math.floor(now_ms / 1000)
  return {
    iss,
    aud: siteAudience,
    sub: 'ada',
    jti: 'tok-1',
    iat,
    exp: iat + 300,
    azp: 'console',
    tenant_id: 'alpha',
    realm_access: { roles: ['examiner', 'unheard-of'] },
    clearance: { level: 'SECRET', categories: ['A'] },
  }
}

/** Signed as RFC 9068 wants it, with the test's header laid over. */
export function signToken(
  key: Pick<SigningKey, 'kid' | 'alg'> & { readonly privateKey: CryptoKey | Uint8Array },
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  const { alg, kid, privateKey } = key
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey)
}
