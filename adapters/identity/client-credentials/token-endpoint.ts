// Posts forms to the token endpoint of an identity provider: bounded in time and size, at addresses that the rule permits.
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import type { FormPoster } from './token-source.ts'

const timeout_ms = 10_000
const max_response_bytes = 262_144

export type TokenEndpointOptions = {
  /** Resolves with the URL of the endpoint; rejects with the cause where it is not known. */
  readonly findUrl: () => Promise<string>
  readonly rule: AddressRule
  /** Authorities in PEM instead of the machine's. */
  readonly ca?: string | undefined
  /** False accepts any certificate. */
  readonly isVerified: boolean
}

export function tokenEndpoint({ findUrl, rule, ca, isVerified }: TokenEndpointOptions): FormPoster {
  const client = new HttpClient({ rule, ca, isVerified, connect_timeout_ms: timeout_ms })
  return async ({ authorization, form }) => {
    const url = await findUrl()
    try {
      const response = await client.send(url, {
        ...{ method: 'POST', body: form, limits: { total_ms: timeout_ms } },
        headers: {
          accept: 'application/json',
          authorization,
          'content-type': 'application/x-www-form-urlencoded',
        },
      })
      return { status: response.status, text: (await response.readBytes(max_response_bytes)).toString('utf8') }
    } catch (error) {
      if (!(error instanceof HttpClientError)) throw error
      throw new Error(error.code ?? error.message)
    }
  }
}
