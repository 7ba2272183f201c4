// Exchanges a caller's token at the identity provider for one that a downstream service accepts (RFC 8693).
import * as z from 'zod'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { discoverProvider, type OidcProvider } from './discovery.ts'
import { requestJson } from './request-json.ts'

/** Credentials of the client: the provider decides which tokens it may exchange, and for which audience. */
export type TokenExchangeClient = { readonly client_id: string; readonly client_secret: string }

export type TokenExchangeRequest = {
  readonly subject_token: string
  /** Audience of the new token, by its name at the provider. */
  readonly audience: string
  readonly scope?: string | undefined
}

const access_token_type = 'urn:ietf:params:oauth:token-type:access_token'

const tokenExchangeResponse = z.looseObject({
  access_token: z.string().min(1).max(65_536),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().min(0).max(1_000_000_000).optional(),
  issued_token_type: z.literal(access_token_type).optional(),
  scope: z.string().optional(),
})
/** `expires_in` in seconds. */
export type TokenExchangeResult = Pick<z.infer<typeof tokenExchangeResponse>, 'access_token' | 'expires_in' | 'scope'>

const errorResponse = z.looseObject({ error: z.string().regex(/^[!-~]{1,64}$/) })

/**
 * Uses `token_url`, or the endpoint of the provider's discovery document. Returns `forbidden` with the provider's error
 * code when it refuses; throws `Refusal('unavailable')` when it gives no usable response.
 */
export async function exchangeToken(
  provider: OidcProvider & { readonly token_url?: string | undefined },
  client: TokenExchangeClient,
  { subject_token, audience, scope }: TokenExchangeRequest,
): Promise<TokenExchangeResult | Refusal> {
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token,
    subject_token_type: access_token_type,
    requested_token_type: access_token_type,
    audience,
    ...(scope === undefined ? {} : { scope }),
  }
  try {
    const endpoint = provider.token_url ?? (await discoverProvider(provider)).token_endpoint
    if (endpoint === undefined) throw new Error('the discovery document names no token endpoint')
    const { status, body } = await requestJson(endpoint, provider, form, basicAuthorization(client))
    const token = tokenExchangeResponse.safeParse(body).data
    if (status === 200 && token) return refuseAnswer(token.access_token, subject_token) ?? token
    const error = errorResponse.safeParse(body).data?.error
    if (status >= 400 && status < 500 && error) return refuse('forbidden', `the identity provider refused: ${error}`)
    throw new Error(`the token endpoint answered ${status}`)
  } catch (error) {
    throw new Refusal('unavailable', `the token exchange failed: ${(error as Error).message}`)
  }
}

/** Refuses what is not a token of the same subject for somebody else: the caller's own token never reaches a service. */
function refuseAnswer(issued: string, subject_token: string): Refusal | undefined {
  if (issued === subject_token)
    return refuse('forbidden', 'the identity provider returned the same token; check its token exchange')
  const [expected, subject] = [subject_token, issued].map(readSubject)
  if (expected === undefined || subject === undefined || subject === expected) return undefined
  return refuse('forbidden', 'the identity provider returned a token of another subject; check its token exchange')
}

/** Undefined for a token without readable claims: the provider alone knows its subject. */
function readSubject(token: string): string | undefined {
  const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url'))
  return z.looseObject({ sub: z.string() }).safeParse(claims).data?.sub
}

/** RFC 6749, section 2.3.1: both halves are form-encoded, so that neither contains a colon. */
function basicAuthorization({ client_id, client_secret }: TokenExchangeClient): string {
  const halves = [client_id, client_secret].map((half) =>
    new URLSearchParams({ half }).toString().slice('half='.length),
  )
  return `Basic ${Buffer.from(halves.join(':')).toString('base64')}`
}
