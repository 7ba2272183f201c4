// Serves one request of an identified peer: writes its batch to the folders, and returns the outcomes.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { CarryOutcome, MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { readBody } from '../../platform/http-server/read-body.ts'
import type { MtlsLimits } from './limits.ts'
import { content_type, decodeBatch, maxRequestBytes, parcels_path } from './parcel-batch.ts'
import type { RefusalReporter } from './refusals.ts'

export type MtlsListenerContext = {
  readonly parcel_limits: { readonly max_envelope_bytes: number; readonly max_body_bytes: number }
  readonly limits: MtlsLimits
  readonly log: Log
  readonly reportRefusal: RefusalReporter
}

/** Seconds after which a peer may ask again. */
const busy_retry_s = 1
const full_retry_s = 5
const unavailable_retry_s = 30

/** The answer: a status and, for a pinned peer only, the outcome of each parcel. */
type BatchReply = {
  readonly status: number
  readonly landings?: readonly CarryOutcome[]
  readonly retry_s?: number
  readonly why?: string
}

export async function serveRequest(
  peer: string,
  request: IncomingMessage,
  response: ServerResponse,
  land: MessageReceiver,
  context: MtlsListenerContext,
): Promise<void> {
  const length = Number(request.headers['content-length'])
  const refused = checkHead(request, length, maxRequestBytes(context.parcel_limits))
  // A large body is sent when its head has been judged.
  if (!refused && request.headers.expect !== undefined) response.writeContinue()
  const reply = refused ?? (await receiveBatch(peer, request, length, land, context))
  if (reply.why) context.reportRefusal(reply.why, { peer })
  if (response.destroyed) return
  // A connection whose request was not read to its end is of no more use.
  if (!request.readableEnded) response.setHeader('connection', 'close')
  if (reply.retry_s !== undefined) response.setHeader('retry-after', String(reply.retry_s))
  if (!reply.landings) return void response.writeHead(reply.status).end()
  response.writeHead(reply.status, { 'content-type': content_type }).end(JSON.stringify({ landings: reply.landings }))
}

function checkHead({ method, url, headers }: IncomingMessage, length: number, most: number): BatchReply | undefined {
  if (url !== parcels_path) return { status: 404, why: 'bad_request' }
  if (method !== 'POST') return { status: 405, why: 'bad_request' }
  if (headers['content-type'] !== content_type || headers['content-encoding'] !== undefined) {
    return { status: 415, why: 'bad_request' }
  }
  if (!Number.isSafeInteger(length)) return { status: 411, why: 'bad_request' }
  return length > most ? { status: 413, why: 'too_large' } : undefined
}

async function receiveBatch(
  peer: string,
  request: IncomingMessage,
  length: number,
  land: MessageReceiver,
  { limits, log }: MtlsListenerContext,
): Promise<BatchReply> {
  const bytes = await readBody(request, length, length, { grace_ms: limits.body_ms, bytes_per_s: limits.bytes_per_s })
  if (typeof bytes === 'string') return { status: 408, why: bytes }
  const parcels = decodeBatch(bytes)
  if (!parcels) return { status: 400, why: 'bad_request' }
  try {
    const landings = parcels.length === 0 ? [] : await land(peer, parcels)
    const isFull = landings.includes('full') && !landings.includes('landed')
    return isFull ? { status: 503, retry_s: full_retry_s } : { status: 200, landings }
  } catch (error) {
    if (isRefusal(error) && error.code === 'not_found') return { status: 403, why: 'not_enrolled' }
    const detail = error instanceof Error ? error.message : String(error)
    if (isRefusal(error)) log.warn('mtls.channel.closed', { peer, detail })
    else log.error('mtls.landing.failed', { peer, detail })
    return { status: 503, retry_s: unavailable_retry_s }
  }
}

/** More at once than one peer may have. */
export function replyBusy(response: ServerResponse): void {
  response.writeHead(503, { 'retry-after': String(busy_retry_s), connection: 'close' }).end()
}
