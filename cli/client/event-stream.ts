// Parses server-sent events from a byte stream, one by one.
import type { ServerEvent } from '../../daemon/kernel/operation/operation.ts'

/** Events of a `text/event-stream` body (WHATWG HTML section 9.2.6); comments, which are heartbeats, are dropped. */
export async function* parseEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let pending = ''
  for await (const chunk of chunks) {
    pending = `${pending}${decoder.decode(chunk, { stream: true })}`.replaceAll('\r\n', '\n')
    const blocks = pending.split('\n\n')
    pending = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event) yield event
    }
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith(':'))
  const readValues = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''))
  const data = readValues('data')
  if (data.length === 0) return undefined
  return {
    id: readValues('id').at(-1) ?? '',
    event: readValues('event').at(-1) ?? 'message',
    data: JSON.parse(data.join('\n')),
  }
}
