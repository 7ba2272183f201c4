// Access tokens of a token endpoint (OAuth 2.0), for requests to a store of objects: fetched at the first one, and again before they end.
import * as z from 'zod'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ObjectClient, ObjectRequest } from './object-client.ts'

const tokenAnswer = z.looseObject({
  access_token: z.string().regex(/^[A-Za-z0-9._~+/=-]{1,16384}$/),
  expires_in: z.coerce.number().min(0).max(1e9),
})

/** A token is not used in the last part of its time. */
const margin_ms = 60_000
const absent = { code: 'not_found', message: 'there is no token endpoint' }

export class AccessTokens {
  readonly #client: ObjectClient
  readonly #prepare: () => Promise<ObjectRequest>
  #token = ''
  #end_ms = 0

  /** `prepare`: the request for a token. */
  constructor(client: ObjectClient, prepare: () => Promise<ObjectRequest>) {
    this.#client = client
    this.#prepare = prepare
  }

  /** The header of a request. Throws `RowSourceError`, and the reason of the signal. */
  async authorize(signal: AbortSignal): Promise<{ readonly authorization: string }> {
    if (performance.now() >= this.#end_ms) {
      const begun_ms = performance.now()
      const answer = await this.#client.readAnswer(await this.#prepare(), absent, signal)
      const token = parseJsonAs(tokenAnswer, answer)
      if (!token) throw new RowSourceError('the token endpoint does not answer as one')
      this.#token = token.access_token
      this.#end_ms = begun_ms + token.expires_in * 1_000 - margin_ms
    }
    return { authorization: `Bearer ${this.#token}` }
  }

  close(): void {
    this.#client.close()
  }
}

/** A request with the fields of a form. */
export function formRequest(path: string, fields: Readonly<Record<string, string>>): ObjectRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { method: 'POST', path, headers, body: new URLSearchParams(fields).toString() }
}
