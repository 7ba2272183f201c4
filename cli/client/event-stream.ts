// Parses server-sent events from a byte stream, one by one.
import { EventBlocks, readEventField } from '../../daemon/kernel/encoding/event-blocks.ts'
import type { ServerEvent } from '../../daemon/kernel/operation/operation.ts'

/** Events of a `text/event-stream` body; those without data, which are heartbeats, are dropped. */
export async function* parseEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<ServerEvent> {
  const blocks = new EventBlocks()
  for await (const chunk of chunks) {
    for (const block of blocks.split(chunk)) {
      const event = parseEvent(block.toString())
      if (event) yield event
    }
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const data = readEventField(block, 'data')
  if (data.length === 0) return undefined
  return {
    id: readEventField(block, 'id').at(-1) ?? '',
    event: readEventField(block, 'event').at(-1) ?? 'message',
    data: JSON.parse(data.join('\n')),
  }
}
