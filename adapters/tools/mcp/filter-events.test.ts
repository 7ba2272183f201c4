// Of the events of a service only the expected ones pass, at a cost in proportion to their bytes.
import { expect, test } from 'vitest'
import { filterEvents, type StreamEnd } from './filter-events.ts'

const limits = { answer_ms: 1_000, answer_bytes: 16_777_216, depth: 32, tools: 1 }

async function filterAll(chunks: Iterable<Buffer>) {
  const ends: StreamEnd[] = []
  const passed: string[] = []
  async function* arriving() {
    yield* chunks
  }
  for await (const event of filterEvents(arriving(), limits, (end) => ends.push(end)))
    passed.push(Buffer.from(event).toString())
  return { passed, ends }
}

test('a large event that ends in drops of one byte is read once', async () => {
  function* drip() {
    yield Buffer.from(`data: {"id":1,"x":"${'x'.repeat(12_000_000)}`)
    for (let at = 0; at < 500_000; at += 1) yield Buffer.of(0x78)
    yield Buffer.from('"}\n\n')
  }
  const { passed, ends } = await filterAll(drip())
  expect(passed.map(({ length }) => length)).toEqual([12_500_000 + 'data: {"id":1,"x":""}\n\n'.length])
  expect(ends).toEqual([{ hasResponse: true, cause: undefined }])
})

test('requests, unknown notifications, comments and fields of control are dropped', async () => {
  const events = [
    ': comment\nretry: 0\nid: 7\ndata: {"method":"notifications/progress"}',
    'data: {"id":1,"method":"ping"}',
    'data: {"method":"notifications/message"}',
    'data: {"id":2,\ndata: "result":{}}',
    'event: other',
  ]
  const { passed, ends } = await filterAll([Buffer.from(`${events.join('\r\n\r\n')}\r\n\r\n`)])
  expect(passed).toEqual(['data: {"method":"notifications/progress"}\n\n', 'data: {"id":2,"result":{}}\n\n'])
  expect(ends).toEqual([{ hasResponse: true, cause: undefined }])
})
