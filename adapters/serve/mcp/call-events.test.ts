// The answer to a followed call is a stream from the first report on; a slow client gets the last report.
import { expect, test, vi } from 'vitest'
import type { SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import { answerWithEvents, type CallEvents, readProgressToken, takesEvents } from './call-events.ts'

const answer: SurfaceResponse = { status: 200, headers: {}, text: '{"jsonrpc":"2.0","id":1,"result":{}}' }
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A call that reports and answers by hand. */
async function begin() {
  const { promise, resolve } = Promise.withResolvers<SurfaceResponse>()
  let events: CallEvents | undefined
  const answered = answerWithEvents('t', (given) => {
    events = given
    return promise
  })
  const report = (progress: number) => events?.report({ progress })
  const request = (id: string) => events?.request({ jsonrpc: '2.0', id, method: 'elicitation/create' })
  return { answered, promise, report, request, finish: () => resolve(answer) }
}

const readNext = async (events: AsyncIterator<ServerEvent>) =>
  (await events.next()).value?.data as Record<string, unknown>
const iterate = (stream: SurfaceResponse | SurfaceStream) => (stream as SurfaceStream).events[Symbol.asyncIterator]()

test('a call without reports has its plain answer', async () => {
  const { answered, finish } = await begin()
  finish()
  expect(await answered).toBe(answer)
})

test('reports come first, and the answer ends the stream', async () => {
  const { answered, report, finish } = await begin()
  report(1)
  const events = iterate(await answered)
  expect(await readNext(events)).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 't', progress: 1 },
  })
  report(2)
  expect(await readNext(events)).toMatchObject({ params: { progress: 2 } })
  finish()
  expect(await readNext(events)).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  expect((await events.next()).done).toBe(true)
})

test('of many reports, a slow client gets the last', async () => {
  const { answered, report, finish } = await begin()
  report(1)
  const events = iterate(await answered)
  for (const progress of [2, 3, 4]) report(progress)
  expect(await readNext(events)).toMatchObject({ params: { progress: 4 } })
  report(5)
  finish()
  await turn()
  expect(await readNext(events)).toMatchObject({ params: { progress: 5 } })
  expect(await readNext(events)).toHaveProperty('result')
})

test('requests for input all come, after the last report', async () => {
  const { answered, report, request, finish } = await begin()
  request('input-1')
  const events = iterate(await answered)
  report(1)
  report(2)
  request('input-2')
  expect(await readNext(events)).toMatchObject({ params: { progress: 2 } })
  expect(await readNext(events)).toMatchObject({ id: 'input-1' })
  expect(await readNext(events)).toMatchObject({ id: 'input-2' })
  finish()
  expect(await readNext(events)).toHaveProperty('result')
})

test('a tool that reports without pause leaves nothing of its reports in memory', async () => {
  const { answered, promise, report, finish } = await begin()
  const waiting = vi.spyOn(promise, 'then')
  report(0)
  const events = iterate(await answered)
  for (let progress = 1; progress <= 100; progress += 1) {
    const next = readNext(events)
    await turn()
    report(progress)
    await next
  }
  expect(waiting).not.toHaveBeenCalled()
  finish()
})

test.each<[string, unknown, string | number | undefined]>([
  ['a text', 'abc', 'abc'],
  ['a number', 7, 7],
  ['a text beyond its limit', 'x'.repeat(257), undefined],
  ['an object', {}, undefined],
])('the token of progress: %s', (_, progressToken, expected) => {
  expect(readProgressToken({ body: { method: 'tools/call', params: { _meta: { progressToken } } } })).toBe(expected)
})

test.each([
  ['tools/call', 'application/json, text/event-stream', true],
  ['tools/call', 'application/json', false],
  ['tools/list', 'text/event-stream', false],
])('messages before the answer: %s for %s', (method, accept, expected) => {
  expect(takesEvents({ body: { method }, headers: { accept } })).toBe(expected)
})
