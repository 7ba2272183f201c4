// Reads a request body within limits of size and of minimum speed.
import type { IncomingMessage } from 'node:http'
import { GatheredBytes } from '../../../daemon/kernel/encoding/gathered-bytes.ts'
import { isBelowPace, type TransferPace } from './transfer-pace.ts'

export type RequestBodyFault = 'too_large' | 'too_slow' | 'broken_off'

/**
 * `declared_bytes`: what the head has declared, which Node holds the sender to; undefined for a body in chunks. A body
 * that is refused stays unread, and its connection is of no more use.
 */
export function readBody(
  request: IncomingMessage,
  declared_bytes: number | undefined,
  most_bytes: number,
  pace: TransferPace,
): Promise<Buffer | RequestBodyFault> {
  if ((declared_bytes ?? 0) > most_bytes) return Promise.resolve('too_large')
  const body = new GatheredBytes()
  const began = performance.now()
  return new Promise((resolve) => {
    const end = (found: Buffer | RequestBodyFault) => {
      clearInterval(watch)
      // Listeners of a request that becomes a stream would keep its body for as long as that lasts.
      request.off('data', receive).off('end', complete).off('close', breakOff).off('error', breakOff)
      resolve(found)
    }
    const complete = () => end(body.length === (declared_bytes ?? body.length) ? body.take() : 'broken_off')
    const breakOff = () => end('broken_off')
    const receive = (chunk: Buffer) => {
      if (body.length + chunk.length > most_bytes) end('too_large')
      else body.append(chunk)
    }
    const watch = setInterval(
      () => {
        if (isBelowPace(body.length, performance.now() - began, pace)) end('too_slow')
      },
      Math.min(1_000, pace.grace_ms / 2),
    )
    request.on('data', receive).once('end', complete).once('close', breakOff).once('error', breakOff)
  })
}
