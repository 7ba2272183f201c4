// Reads server-sent events from a hub that may send anything.
import { EventBlocks, readEventField } from '../../../daemon/kernel/encoding/event-blocks.ts'

/** Of one event. */
const max_event_bytes = 65_536

/** Yields when events have come, whatever their content. Throws for one that is too long; ends with the stream. */
export async function* serverSentEvents(chunks: AsyncIterable<Buffer>): AsyncIterable<void> {
  const blocks = new EventBlocks()
  for await (const chunk of chunks) {
    const events = [...blocks.split(chunk)]
    if (blocks.pending_bytes > max_event_bytes) throw new Error('the hub sends an event without an end')
    if (events.some((event) => readEventField(event.toString(), 'data').length > 0)) yield
  }
}
