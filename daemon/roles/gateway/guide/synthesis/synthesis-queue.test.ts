// Waiting syntheses: the documented triggers alone, the latest of each trace, bounds for each tenant, a budget, and administrators first.
import { expect, test } from 'vitest'
import type { EventType, StoredObservation } from '../observation/model.ts'
import { eventTypes } from '../observation/model.ts'
import { SynthesisQueue, type SynthesisResult, type WaitingSynthesis } from './synthesis-queue.ts'

const stored = (event_type: EventType, trace_id = 'one', at = 0) => ({
  id: `${trace_id} ${event_type}`,
  version: 1,
  value: {
    event_type,
    trace_id,
    service: 'maps',
    tenant_id: 'a',
    payload: { at },
    create_ts: at,
  } as unknown as StoredObservation,
})
const waiting = (trace_id: string, tenant_id = 'a', settled_ms = 0): WaitingSynthesis => ({
  ...{ scope: { tenant_id }, trace_id, trigger: 'l3_output', settled_ms },
  event: { event_type: 'tool_output', service: 'maps', payload: {} },
})
const done: SynthesisResult = { outcome: 'unchanged', reply: '', changes: [] }
function takeAll(queue: SynthesisQueue, now: number): string[] {
  const taken: string[] = []
  for (let next = queue.take(now); next; next = queue.take(now)) taken.push(next.trace_id)
  return taken
}

test('triggers are those of the interface document: never a turn of a model, never feedback', () => {
  const triggers = eventTypes.filter((type) => {
    const queue = new SynthesisQueue(10)
    queue.onStored([stored(type)])
    return queue.take(10_000) !== undefined
  })
  expect(triggers).toEqual(['intent_schema', 'user_prompt', 'tool_output', 'tool_error', 'final_response'])
})

test('of one trace only the latest trigger is processed, once no further one has come, or at the end of the turn', () => {
  const queue = new SynthesisQueue(10)
  queue.onStored([stored('user_prompt'), stored('tool_error', 'one', 3_000)])
  expect(queue.take(7_999)).toBeUndefined()
  queue.onStored([stored('final_response', 'one', 7_000)])
  expect(queue.take(7_000)).toMatchObject({
    trigger: 'l3_output',
    event: { event_type: 'final_response', payload: { at: 7_000 } },
  })
  expect(queue.take(99_000)).toBeUndefined()
})

test('two of one trace never run at once', () => {
  const queue = new SynthesisQueue(10)
  queue.offer(waiting('one'))
  const first = queue.take(0)
  queue.offer(waiting('one'))
  expect(queue.take(0)).toBeUndefined()
  if (first) queue.end(first, done)
  expect(queue.take(0)?.trace_id).toBe('one')
  expect(queue.priorOf(waiting('one'))).toBe(done)
  expect(queue.priorOf(waiting('one', 'b'))).toBeUndefined()
})

test('a tenant that offers too many drops its own oldest ones, and takes turns with others', () => {
  const queue = new SynthesisQueue(1_000)
  for (let at = 0; at < 150; at += 1) queue.offer(waiting(`a${at}`))
  queue.offer(waiting('b0', 'b'))
  expect(queue.dropped).toBe(50)
  expect(takeAll(queue, 0).slice(0, 3)).toEqual(['a50', 'b0', 'a51'])
})

test('all tenants together are bounded', () => {
  const queue = new SynthesisQueue(1_000)
  for (let at = 0; at < 1_500; at += 1) queue.offer(waiting('x', `tenant-${at}`))
  expect([takeAll(queue, 0).length, queue.dropped]).toEqual([1_000, 500])
})

test('a tenant has so many syntheses an hour, which come back over the hour', () => {
  const queue = new SynthesisQueue(6)
  for (let at = 0; at < 20; at += 1) queue.offer(waiting(`a${at}`))
  queue.offer(waiting('b0', 'b'))
  expect(takeAll(queue, 0)).toEqual(['a0', 'b0', 'a1', 'a2', 'a3', 'a4', 'a5'])
  expect(takeAll(queue, 599_000)).toEqual([])
  expect(takeAll(queue, 600_000)).toEqual(['a6'])
  expect(takeAll(queue, 90_000_000)).toHaveLength(6)
})

test('a request of an administrator comes first, beside the budget, and is announced at once', async () => {
  const queue = new SynthesisQueue(0)
  const { nextRequest } = queue
  queue.offer(waiting('one'))
  let result: SynthesisResult | undefined
  expect(queue.request({ ...waiting('two'), resolve: (of) => (result = of) })).toBe(true)
  await nextRequest
  const taken = queue.take(0)
  expect(taken?.trace_id).toBe('two')
  expect(queue.take(0)).toBeUndefined()
  if (taken) queue.end(taken, done)
  expect(result).toBe(done)
  const full = Array.from({ length: 101 }, () => queue.request({ ...waiting('two'), resolve: () => undefined }))
  expect(full.at(-1)).toBe(false)
})
