// Reads a request body within limits of size and of minimum speed.
import type { IncomingMessage } from 'node:http'
import type { MtlsLimits } from './limits.ts'

export type RequestBodyFault = 'too_slow' | 'broken_off'

/** `bytes`: what the head has declared, which Node holds it to. */
export function readBody(
  request: IncomingMessage,
  bytes: number,
  limits: MtlsLimits,
): Promise<Buffer | RequestBodyFault> {
  const chunks: Buffer[] = []
  let received = 0
  const began = performance.now()
  return new Promise((resolve) => {
    const watch = setInterval(
      () => {
        const allowed_ms = limits.body_ms + (received / limits.bytes_per_s) * 1_000
        if (performance.now() - began > allowed_ms) end('too_slow')
      },
      Math.min(1_000, limits.body_ms / 2),
    )
    const end = (found: Buffer | RequestBodyFault) => {
      clearInterval(watch)
      resolve(found)
    }
    request.on('data', (chunk: Buffer) => {
      received += chunk.length
      chunks.push(chunk)
    })
    request.once('end', () => end(received === bytes ? Buffer.concat(chunks) : 'broken_off'))
    request.once('close', () => end('broken_off'))
    request.once('error', () => end('broken_off'))
  })
}
