// Sends a row of the corpus to a proxy as its bytes stand, and waits until the proxy is done with it, without a time limit.
import { connect } from 'node:net'
import { vi } from 'vitest'
import type { CorpusRow } from './corpus-row.ts'
import type { CorpusOutcome } from './judge-corpus-row.ts'
import { type RecordingUpstream, respondOk } from './recording-upstream.ts'

const timeout_ms = 60_000
/** Of an answer other than 1xx. */
const finalStatusLine = /HTTP\/1\.1 ([2-5]\d\d)[\s\S]*?\r\n\r\n/

/** `listed`: a target that the proxy answers a preflight on. */
export type CorpusTarget = { readonly port: number; readonly listed: string }

/** `isOpen`: the connection would take more requests. */
export type CorpusReply = { readonly text: string; readonly isOpen: boolean }

/**
 * All bytes from the proxy. Once it has answered, a preflight follows on the same connection, whose answer repeats a word of its
 * own: by then the proxy is done with the bytes before, however it read them.
 */
export function sendCorpusBytes({ port, listed }: CorpusTarget, bytes: Buffer, word: string): Promise<CorpusReply> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const late = setTimeout(() => over(new Error(`${word}: no end to it`)), timeout_ms)
    const over = (error?: Error) => {
      clearTimeout(late)
      socket.destroy()
      if (error) reject(error)
      else resolve({ text: text.split(markerOf)[0] ?? '', isOpen: markerOf.test(text) })
    }
    const markerOf = new RegExp(
      `HTTP/1\\.1 204 [^\\r]*\\r\\n(?:[^\\r]+\\r\\n)*access-control-allow-headers: ${word}\\r\\n`,
    )
    let text = ''
    let isPreflightSent = false
    socket.setEncoding('latin1')
    socket.on('data', (piece: string) => {
      text += piece
      if (markerOf.test(text)) over()
      else if (!isPreflightSent && finalStatusLine.test(text)) {
        isPreflightSent = true
        const ask = `Host: a\r\nAccess-Control-Request-Headers: ${word}\r\n`
        socket.write(`OPTIONS ${listed} HTTP/1.1\r\n${ask}\r\n`)
      }
    })
    // A proxy that closes while bytes are on their way resets the connection.
    socket.on('error', () => undefined)
    socket.on('close', () => over())
    socket.write(bytes)
  })
}

export const parseFinalStatus = (text: string): number | undefined => {
  const [, status] = finalStatusLine.exec(text) ?? []
  return status === undefined ? undefined : Number(status)
}

export async function runCorpusRow(
  row: CorpusRow,
  place: CorpusTarget,
  upstream: RecordingUpstream,
): Promise<CorpusOutcome> {
  upstream.requests.length = 0
  const closing: Promise<unknown>[] = []
  upstream.respond = (request, socket) => {
    if (row.upstream_b64 === undefined) return respondOk(request, socket)
    closing.push(new Promise((resolve) => socket.once('close', resolve)))
    socket.end(Buffer.from(row.upstream_b64, 'base64'))
  }
  const { text, isOpen } = await sendCorpusBytes(place, Buffer.from(row.raw_b64, 'base64'), row.id)
  const reached = [...upstream.requests]
  const then: number[] = []
  for (const [at, bytes] of (row.then_b64 ?? []).entries()) {
    await sendCorpusBytes(place, Buffer.from(bytes, 'base64'), `${row.id}-${at}`)
    then.push(upstream.requests.length)
  }
  // Or the proxy might use a connection for the next row that is about to close.
  await vi.waitFor(() => Promise.all(closing), { timeout: timeout_ms })
  return { reached, text, isOpen, status: parseFinalStatus(text), then }
}
