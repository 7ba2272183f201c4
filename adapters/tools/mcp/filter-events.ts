// Server-sent events of a service that is not trusted: bounded in bytes and depth, without the fields by which a server
// controls reconnection, and without requests to this client for which it has no ability.
import { EventBlocks, readEventField } from '../../../daemon/kernel/encoding/event-blocks.ts'
import { readStrictJson } from '../../../daemon/kernel/encoding/strict-json.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ToolServiceLimits } from '../../../daemon/kernel/tools/tool-service.ts'
import { requireKnownType } from './remote-tool-schema.ts'

/** Notifications that mean something to this client; every other one is dropped. */
const notifications: ReadonlySet<unknown> = new Set([
  'notifications/progress',
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/subscriptions/acknowledged',
  'notifications/cancelled',
])

/** `requests`: methods of the requests that pass. `isInputRequirable`: whether a result may require input, as the revision has it. */
export type MessageTerms = { readonly requests: ReadonlySet<unknown>; readonly isInputRequirable: () => boolean }

const noRequests: MessageTerms = { requests: new Set(), isInputRequirable: () => false }

/** How a stream ended: whether it held a response, and the error that broke it. */
export type StreamEnd = { readonly hasResponse: boolean; readonly cause: unknown }

/** Events as the library expects them, each whole. Throws `Refusal` for a stream beyond the limits. */
export async function* filterEvents(
  chunks: AsyncIterable<Buffer>,
  { answer_bytes, depth }: ToolServiceLimits,
  onEnd: (end: StreamEnd) => void,
  terms: MessageTerms = noRequests,
): AsyncGenerator<Uint8Array> {
  const blocks = new EventBlocks()
  let total_bytes = 0
  let hasResponse = false
  let cause: unknown
  try {
    for await (const chunk of chunks) {
      total_bytes += chunk.length
      if (total_bytes > answer_bytes)
        throw refuse('unavailable', `the stream of the service is larger than ${answer_bytes} bytes`)
      for (const block of blocks.split(chunk)) {
        const message = readMessage(block, depth, terms)
        if (message === undefined) continue
        hasResponse ||= !('method' in message)
        yield Buffer.from(`data: ${JSON.stringify(message)}\n\n`)
      }
    }
  } catch (error) {
    cause = error
    throw error
  } finally {
    onEnd({ hasResponse, cause })
  }
}

/** The message of an event; undefined for what is dropped. Throws `Refusal` for what is not JSON in limits. */
function readMessage(block: Buffer, max_depth: number, terms: MessageTerms): object | undefined {
  const data = readEventField(new TextDecoder('utf-8', { fatal: true }).decode(block), 'data').join('\n')
  return data === '' ? undefined : readServiceMessage(data, 'an event of the service', max_depth, terms)
}

/** `source`: how the refusal names the message. */
export function readServiceMessage(
  data: string | Buffer,
  source: string,
  max_depth: number,
  terms: MessageTerms,
): object | undefined {
  const read = readStrictJson(data, { max_depth })
  if (read.outcome !== 'value')
    throw refuse('unavailable', `${source} is not JSON within ${max_depth} levels: ${read.outcome}`)
  if (!isExpected(read.value, terms.requests)) return undefined
  requireKnownType(read.value, terms.isInputRequirable())
  return read.value
}

/** A response, or a message that is known. Another request would make this client answer as often as the service likes. */
function isExpected(value: unknown, requests: ReadonlySet<unknown>): value is object {
  if (typeof value !== 'object' || value === null) return false
  const { method } = value as { method?: unknown }
  if ('id' in value) return method === undefined || requests.has(method)
  return notifications.has(method)
}
