// Fetches the discovery document of an identity provider, and the keys that it signs with.
import * as z from 'zod'
import { type ProviderTlsOptions, requestJson } from './request-json.ts'
import { discoveryUrl } from './url-rules.ts'

export type OidcProvider = ProviderTlsOptions & { readonly issuer: string; readonly wellknown?: string | undefined }

const discoveryDocument = z.looseObject({
  issuer: z.string(),
  jwks_uri: z.string(),
  token_endpoint: z.string().optional(),
})
export type ProviderMetadata = z.infer<typeof discoveryDocument>

/** Throws an Error when it cannot be fetched, or is of another issuer, whose keys must not be trusted. */
export async function discoverProvider(provider: OidcProvider): Promise<ProviderMetadata> {
  const { issuer, wellknown = discoveryUrl(issuer) } = provider
  const { status, body } = await explainFailure('the discovery document', requestJson(wellknown, provider))
  if (status !== 200) throw new Error(`the discovery document was answered with status ${status}`)
  const { success, data } = discoveryDocument.safeParse(body)
  if (!success) throw new Error('the discovery document lacks issuer or jwks_uri')
  if (data.issuer !== issuer) throw new Error('the discovery document is of another issuer than sso.issuer')
  return data
}

/** The provider's JWKS, unparsed, after a new discovery. Throws an Error. */
export async function fetchKeySet(provider: OidcProvider): Promise<unknown> {
  const { jwks_uri } = await discoverProvider(provider)
  const { status, body } = await explainFailure('the keys', requestJson(jwks_uri, provider))
  if (status !== 200) throw new Error(`the keys were answered with status ${status}`)
  return body
}

async function explainFailure<T>(what: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw new Error(`${what} could not be fetched: ${(error as Error).message}`)
  }
}
