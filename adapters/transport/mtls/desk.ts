// Answers one request of a peer that is known by its certificate: takes its batch to the folders, and says what became of it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../../daemon/kernel/call.ts'
import type { Landed, Landing } from '../../../daemon/kernel/carrier.ts'
import { isRefused } from '../../../daemon/kernel/errors.ts'
import type { Limits } from './limits.ts'
import type { Refuse } from './refusals.ts'
import { readBody } from './request-body.ts'
import { content_type, mostRequestBytes, parcelsIn, path } from './wire.ts'

export type Desk = {
  readonly parcel_limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number }
  readonly limits: Limits
  readonly log: Log
  readonly refuse: Refuse
}

/** Seconds after which a peer may ask again. */
const soon_s = 1
const later_s = 5
const much_later_s = 30

/** What is said: a status, and for a pinned peer alone what became of its parcels. */
type Said = {
  readonly status: number
  readonly landings?: readonly Landing[]
  readonly retry_s?: number
  readonly why?: string
}

export async function serveRequest(
  peer: string,
  request: IncomingMessage,
  response: ServerResponse,
  land: Landed,
  desk: Desk,
): Promise<void> {
  const length = Number(request.headers['content-length'])
  const refused = headFault(request, length, mostRequestBytes(desk.parcel_limits))
  // A large body is sent when its head has been judged.
  if (!refused && request.headers.expect !== undefined) response.writeContinue()
  const said = refused ?? (await taken(peer, request, length, land, desk))
  if (said.why) desk.refuse(said.why, { peer })
  if (response.destroyed) return
  // A connection whose request was not read to its end is of no more use.
  if (!request.readableEnded) response.setHeader('connection', 'close')
  if (said.retry_s !== undefined) response.setHeader('retry-after', String(said.retry_s))
  if (!said.landings) return void response.writeHead(said.status).end()
  response.writeHead(said.status, { 'content-type': content_type }).end(JSON.stringify({ landings: said.landings }))
}

function headFault({ method, url, headers }: IncomingMessage, length: number, most: number): Said | undefined {
  if (url !== path) return { status: 404, why: 'bad_request' }
  if (method !== 'POST') return { status: 405, why: 'bad_request' }
  if (headers['content-type'] !== content_type || headers['content-encoding'] !== undefined) {
    return { status: 415, why: 'bad_request' }
  }
  if (!Number.isSafeInteger(length)) return { status: 411, why: 'bad_request' }
  return length > most ? { status: 413, why: 'too_large' } : undefined
}

async function taken(
  peer: string,
  request: IncomingMessage,
  length: number,
  land: Landed,
  { limits, log }: Desk,
): Promise<Said> {
  const bytes = await readBody(request, length, limits)
  if (typeof bytes === 'string') return { status: 408, why: bytes }
  const parcels = parcelsIn(bytes)
  if (!parcels) return { status: 400, why: 'bad_request' }
  try {
    const landings = parcels.length === 0 ? [] : await land(peer, parcels)
    const isFull = landings.includes('full') && !landings.includes('landed')
    return isFull ? { status: 503, retry_s: later_s } : { status: 200, landings }
  } catch (error) {
    if (isRefused(error) && error.code === 'not_found') return { status: 403, why: 'not_enrolled' }
    const detail = error instanceof Error ? error.message : String(error)
    if (isRefused(error)) log.warn('mtls.channel.closed', { peer, detail })
    else log.error('mtls.landing.failed', { peer, detail })
    return { status: 503, retry_s: much_later_s }
  }
}

/** More at once than one peer may have. */
export function tellBusy(response: ServerResponse): void {
  response.writeHead(503, { 'retry-after': String(soon_s), connection: 'close' }).end()
}
