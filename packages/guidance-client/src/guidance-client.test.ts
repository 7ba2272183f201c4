// The client of observations against a double of the gateway: batches, repeats, exact counts.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type ObservationDouble, startObservationDouble } from '../../../test/support/guide/observation-double.ts'
import type { GuidanceClientOptions } from './client-options.ts'
import { GuidanceClient } from './guidance-client.ts'
import { retryDelay } from './retry-delay.ts'

let double: ObservationDouble
beforeAll(async () => {
  double = await startObservationDouble()
})
afterAll(() => double.close())
beforeEach(() => {
  double.requests.splice(0)
  double.answerBy(202)
})

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const envelope = (n: number | string) => ({
  ...{ event_type: 'tool_output', trace_id, service: 'maps', timestamp: '2026-01-01T00:00:00Z', payload: { n } },
})
const fast = { retry_base_ms: 1, retry_cap_ms: 2, flush_interval_ms: 600_000 }
const open = (options: Partial<GuidanceClientOptions> = {}) =>
  new GuidanceClient({ url: double.url, token: () => 'the-token', ...fast, ...options })
const emit = (client: GuidanceClient, count: number) => {
  for (let n = 0; n < count; n += 1) client.emit(envelope(n))
}

test('a full batch is sent at once, the rest by flush, in order', async () => {
  const client = open()
  emit(client, 120)
  await client.flush()
  expect(double.requests.map(({ ids }) => ids.length)).toEqual([50, 50, 20])
  expect(double.requests.flatMap(({ ids }) => ids)).toEqual(Array.from({ length: 120 }, (_, n) => n))
  expect(client.counts).toEqual({ sent: 120, dropped: {}, waiting: 0 })
  const [first] = double.requests
  expect([first?.path, first?.headers.authorization]).toEqual(['POST /api/v1/guide/observations', 'Bearer the-token'])
  expect(first?.headers.traceparent).toMatch(new RegExp(`^00-${trace_id}-[0-9a-f]{16}-01$`))
})

test('a batch that is not full waits for its time', async () => {
  const client = open({ flush_interval_ms: 20 })
  emit(client, 3)
  await vi.waitFor(() => expect(client.counts.sent).toBe(3))
  expect(double.requests).toHaveLength(1)
})

test.each([
  ['500', [500, 503, 202]],
  ['429', [429, 429, 202]],
  ['connections that end', [0, 0, 202]],
  ['no answer in time', [-1, -1, 202]],
])('%s: repeated twice', async (_, statuses) => {
  double.answerBy(...statuses)
  const client = open({ post_timeout_s: statuses.includes(-1) ? 0.1 : 30 })
  emit(client, 2)
  await client.flush()
  expect([double.requests.length, client.counts]).toEqual([3, { sent: 2, dropped: {}, waiting: 0 }])
})

test.each([
  ['server_error', [500], 3],
  ['too_many_requests', [429], 3],
  ['connection', [0], 3],
  ['timeout', [-1], 3],
  ['refused', [400], 1],
  ['refused', [403], 1],
])('%s at last: dropped and counted, and later ones are sent', async (reason, statuses, attempts) => {
  double.answerBy(...statuses)
  const drops: unknown[] = []
  const client = open({ post_timeout_s: statuses.includes(-1) ? 0.1 : 30, onDrop: (...drop) => drops.push(drop) })
  emit(client, 2)
  await client.flush()
  expect([double.requests.length, client.counts.dropped, drops]).toEqual([attempts, { [reason]: 2 }, [[2, reason]]])
  double.answerBy(202)
  emit(client, 1)
  await client.close()
  expect(client.counts).toMatchObject({ sent: 1, waiting: 0 })
  expect(() => emit(client, 1)).toThrow('closed')
})

test('a full buffer drops further envelopes, counted to the last one', async () => {
  double.answerBy(500)
  const client = open({ queue_maxsize: 60 })
  emit(client, 100)
  expect(client.counts).toEqual({ sent: 0, dropped: { queue_full: 40 }, waiting: 60 })
  expect(client.emit(envelope(101))).toBe(false)
  await client.flush()
  expect(client.counts).toEqual({ sent: 0, dropped: { queue_full: 41, server_error: 60 }, waiting: 0 })
})

test('without a token nothing is sent', async () => {
  const client = open({ token: () => Promise.reject(new Error('expired')) })
  emit(client, 1)
  await client.flush()
  expect([double.requests.length, client.counts.dropped]).toEqual([0, { no_token: 1 }])
})

test('variables count where the program passes them, and options above them', async () => {
  const env = { GUIDE_INGEST_BATCH_SIZE: '2', GUIDE_INGEST_RETRY_ATTEMPTS: '0' }
  const client = new GuidanceClient({ url: double.url, token: () => 't', ...fast }, env)
  double.answerBy(500, 202)
  emit(client, 4)
  await client.flush()
  expect(client.counts).toMatchObject({ sent: 2, dropped: { server_error: 2 } })
  const broken = { GUIDE_INGEST_BATCH_SIZE: 'many' }
  expect(() => new GuidanceClient({ url: double.url, token: () => 't' }, broken)).toThrow(
    'GUIDE_INGEST_BATCH_SIZE is NaN: it must be a number from 1 to 1000',
  )
})

test('pauses double from the base to the cap, and half of each is random', () => {
  const limits = { retry_base_ms: 200, retry_cap_ms: 2_000 }
  expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(attempt, limits, 1))).toEqual([200, 400, 800, 1_600, 2_000])
  expect([1, 5].map((attempt) => retryDelay(attempt, limits, 0))).toEqual([100, 1_000])
})
