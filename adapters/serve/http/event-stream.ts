// Writes server-sent events at the pace of the reader, until the events, the reader or the service end.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'

/** Abort reason that ends a stream in an orderly way: the client is sent a time to reconnect. */
export const endOfService = Symbol('end of service')

export type EventStreamOptions = {
  readonly signal: AbortSignal
  readonly heartbeat_ms: number
  /** Called at each heartbeat: a quiet stream has no other occasion to notice that its caller is not admitted any more. */
  readonly onHeartbeat: () => void
  /** Turns an error of the events into the data of a last event "problem". */
  readonly problemOf: (error: unknown) => unknown
  /** Takes memory for an event that waits for its reader; undefined when there is none: then the stream ends. */
  readonly hold: (bytes: number) => (() => void) | undefined
}

/** The head must have been written. Resolves when the stream has ended; never rejects. */
export async function streamEvents(
  to: ServerResponse,
  events: AsyncIterable<ServerEvent>,
  { signal, heartbeat_ms, onHeartbeat, problemOf, hold }: EventStreamOptions,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]()
  const heartbeat = startHeartbeat(to, heartbeat_ms, onHeartbeat)
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal)
      if (!next || next.done) break
      if (!(await writeEvent(to, formatEvent(next.value), signal, hold))) break
    }
  } catch (error) {
    if (!signal.aborted) to.write(`event: problem\ndata: ${JSON.stringify(problemOf(error))}\n\n`)
  } finally {
    clearInterval(heartbeat)
    if (signal.reason === endOfService) to.write('retry: 2000\n\n')
    to.end()
    iterator.return?.().catch(() => undefined)
  }
}

/** False when there is no memory for an event that its reader must be waited for: the reader can resume after the last. */
async function writeEvent(
  to: ServerResponse,
  text: string,
  signal: AbortSignal,
  hold: EventStreamOptions['hold'],
): Promise<boolean> {
  const release = hold(text.length)
  if (!release) return false
  try {
    if (!to.write(text)) await once(to, 'drain', { signal })
    return true
  } finally {
    release()
  }
}

/** Event ids and names come from operations; a line break in one would forge a field. */
export function formatEvent({ id, event, data }: ServerEvent): string {
  return `${id === undefined ? '' : `id: ${toSingleLine(id)}\n`}event: ${toSingleLine(event)}\ndata: ${JSON.stringify(data)}\n\n`
}

function toSingleLine(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ')
}

/** A client that has not read one byte between two heartbeats is gone, even if its socket is open. */
function startHeartbeat(to: ServerResponse, every_ms: number, onHeartbeat: () => void): NodeJS.Timeout {
  let wasStuck = false
  const beat = () => {
    onHeartbeat()
    if (to.writableNeedDrain && wasStuck) to.destroy()
    wasStuck = to.writableNeedDrain
    if (!wasStuck) to.write(':\n\n')
  }
  return setInterval(beat, every_ms).unref()
}

/** The listener is taken off after each event: racing one long-lived promise would keep every event in memory. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined)
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
