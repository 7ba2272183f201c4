// Large answers that clients have not read: their memory is shared by all listeners of the process.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { ShareLedger } from './shares.ts'

export const unreadAnswers = new ShareLedger()

/** Larger answers are counted, and written in pieces of this size; smaller ones mostly fit the buffer of the socket. */
export const large_answer_bytes = 65_536

/** Writes a body at the pace of its reader and ends the response. `onRead`: bytes that the operating system has taken. */
export async function writeInPieces(
  to: ServerResponse,
  bytes: Buffer,
  signal: AbortSignal,
  onRead: (bytes: number) => void,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += large_answer_bytes) {
    const hasRoom = to.write(bytes.subarray(at, at + large_answer_bytes))
    // The client is gone, and so is the signal's request.
    if (!hasRoom) await once(to, 'drain', { signal })
    onRead(at)
  }
  to.end()
}
