// Obtains this site's access token for the hub by client credentials, and renews it before it expires.

import * as z from 'zod'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { readSecretFile, SecretFileError } from '../../platform/secret-file/read-secret-file.ts'
import type { HubHttpClient } from './hub-http-client.ts'

export type HubCredentials = { readonly token_url: string; readonly client_id: string; readonly secret_file: string }

export type HubTokenSource = {
  /** One that holds for a while yet. Rejects with why there is none; never with a secret. */
  current(signal: AbortSignal): Promise<string>
  /** The hub does not take this one any more. */
  drop(token: string): void
}

const tokenResponse = z.object({
  access_token: z.string().min(1).max(16_384),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().min(1),
})

/** Share of a token's lifetime for which it is used. */
const used_lifetime_fraction = 0.8

export function hubTokenSource(
  web: HubHttpClient,
  { token_url, client_id, secret_file }: HubCredentials,
): HubTokenSource {
  let cached: { readonly token: string; readonly until: number } | undefined
  let asking: Promise<string> | undefined
  const fetchOne = async (signal: AbortSignal) => {
    const began = performance.now()
    const grant = { grant_type: 'client_credentials', client_id, client_secret: readSecret(secret_file) }
    const { status, text } = await web.request(new URL(token_url), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      text: new URLSearchParams(grant).toString(),
      signal,
    })
    const read = status === 200 ? tokenResponse.safeParse(parseJson(text)) : undefined
    if (!read?.success) throw new Error(`the token endpoint returned no token (status ${status})`)
    const { access_token, expires_in } = read.data
    cached = { token: access_token, until: began + expires_in * used_lifetime_fraction * 1_000 }
    return access_token
  }
  return {
    current(signal) {
      if (cached && performance.now() < cached.until) return Promise.resolve(cached.token)
      asking ??= fetchOne(signal).finally(() => {
        asking = undefined
      })
      return asking
    },
    drop(token) {
      if (cached?.token === token) cached = undefined
    },
  }
}

function readSecret(file: string): string {
  let text: string
  try {
    text = readSecretFile(file).trim()
  } catch (error) {
    if (!(error instanceof SecretFileError)) throw error
    throw new Error(`the secret file of the coalition ${error.reason}`)
  }
  if (text === '') throw new Error('the secret file of the coalition is empty')
  return text
}
