// Authenticates the client of a token request, by HTTP Basic or form (RFC 6749 section 2.3.1), in constant time.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import type { OAuthClient, OAuthError, TokenRequest } from '../model.ts'

/** The client whose secret was presented. Unknown client and wrong secret give the same response. */
export function authenticateClient(
  request: TokenRequest,
  authorization: string | undefined,
  clients: readonly OAuthClient[],
): OAuthClient | OAuthError {
  const credentials = readCredentials(request, authorization)
  if ('error' in credentials) return credentials
  const presented = sha256(credentials.secret)
  const client = clients.find((each) => each.client_id === credentials.client_id)
  const matches = isEqualInConstantTime(presented, client?.secret_sha256 ?? sha256(presented))
  return client && matches ? client : { error: 'invalid_client', error_description: 'the client is not authenticated' }
}

/** The client id that the request claims, not yet authenticated; undefined when it cannot be read. */
export function readClaimedClient(request: TokenRequest, authorization: string | undefined): string | undefined {
  const credentials = readCredentials(request, authorization)
  return 'error' in credentials ? undefined : credentials.client_id
}

type PresentedCredentials = { readonly client_id: string; readonly secret: string }

function readCredentials(request: TokenRequest, authorization: string | undefined): PresentedCredentials | OAuthError {
  if (authorization !== undefined) {
    if (request.client_secret !== undefined) return refuseTwoMethods()
    const basic = parseBasicCredentials(authorization)
    if (!basic) return { error: 'invalid_client', error_description: 'the Authorization header cannot be read' }
    return request.client_id === undefined || request.client_id === basic.client_id ? basic : refuseTwoMethods()
  }
  const { client_id, client_secret } = request
  if (client_id !== undefined && client_secret !== undefined) return { client_id, secret: client_secret.reveal() }
  return { error: 'invalid_client', error_description: 'client_id and client_secret are required' }
}

function refuseTwoMethods(): OAuthError {
  return { error: 'invalid_request', error_description: 'the client must authenticate by one method only' }
}

function parseBasicCredentials(authorization: string): PresentedCredentials | undefined {
  const encoded = /^basic ([A-Za-z0-9+/]{1,4096}={0,2})$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  try {
    const decoded = atob(encoded)
    const colon = decoded.indexOf(':')
    if (colon < 1) return undefined
    return { client_id: decodeFormText(decoded.slice(0, colon)), secret: decodeFormText(decoded.slice(colon + 1)) }
  } catch {
    return undefined
  }
}

/** Both halves are form-encoded before they are joined (RFC 6749 section 2.3.1). */
function decodeFormText(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

/** Compares every character of both, so that timing does not reveal where they differ. */
export function isEqualInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at % Math.max(1, b.length))
  return difference === 0
}
