// Reads server-sent events from a hub that may send anything.

/** Of one event. */
const max_event_bytes = 65_536

/** Yields when events have come, whatever their content. Throws for one that is too long; ends with the stream. */
export async function* serverSentEvents(chunks: AsyncIterable<Buffer>): AsyncIterable<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of chunks) {
    const frames = (rest + decoder.decode(part, { stream: true })).split('\n\n')
    rest = frames.pop() ?? ''
    if (rest.length > max_event_bytes) throw new Error('the hub sends an event without an end')
    if (frames.some((frame) => /^data:/m.test(frame))) yield
  }
}
