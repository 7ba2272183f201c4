// Parses the request headers that operations use; a malformed header is refused, never guessed.
import type { IncomingHttpHeaders } from 'node:http'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { RequestTarget } from '../../../daemon/kernel/operation/operation.ts'

/**
 * The bearer token of `Authorization`. A bearer header that is not well formed (two headers among them, which arrive
 * joined by a comma) gives the empty token, which no provider accepts; another scheme gives none.
 */
export function parseBearer(header: string | undefined): string | undefined {
  if (header === undefined || !/^bearer\b/i.test(header)) return undefined
  return /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1] ?? ''
}

export type RequestConditions = {
  readonly if_match: number | undefined
  readonly idempotency_key: string | undefined
  readonly last_event_id: string | undefined
}

/** Conditions that most requests do not have, shared so that they cost nothing. */
const no_conditions: RequestConditions = { if_match: undefined, idempotency_key: undefined, last_event_id: undefined }

export function parseConditions(
  operation: RequestTarget['operation'],
  headers: IncomingHttpHeaders,
): RequestConditions | Refusal {
  const match = headers['if-match']
  const key = headers['idempotency-key']
  const event = headers['last-event-id']
  if (match === undefined && key === undefined && event === undefined) return no_conditions
  if (match !== undefined && match !== '*' && !/^"\d{1,15}"$/.test(match)) {
    return refuse('malformed', 'If-Match must be one ETag of this service, such as "3", or *')
  }
  if (key !== undefined && !/^[!-~]{1,255}$/.test(String(key))) {
    return refuse('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters')
  }
  if (event !== undefined && !/^[ -~]{0,64}$/.test(String(event))) {
    return refuse('invalid', 'Last-Event-ID must be at most 64 ASCII characters')
  }
  return {
    if_match: match === undefined || match === '*' ? undefined : Number(match.slice(1, -1)),
    idempotency_key: operation.creates ? (key as string | undefined) : undefined,
    last_event_id: event === '' ? undefined : (event as string | undefined),
  }
}
