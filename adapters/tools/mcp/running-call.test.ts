// A call that waits for input goes on with it; it ends with its time limit, its caller, or the patience for input.
import { afterEach, expect, test, vi } from 'vitest'
import { InputRequiredResult, max_input_wait_ms } from '../../../daemon/kernel/tools/client-input.ts'
import type { RemoteToolCall, RemoteToolResult } from '../../../daemon/kernel/tools/tool-service.ts'
import { RunningCall } from './running-call.ts'

const result: RemoteToolResult = { is_error: false, content: [] }
const leg: RemoteToolCall = { name: 'route', input: {}, timeout_ms: 60_000 }
const question = { method: 'elicitation/create', params: { message: 'Which?' } }
const never = new AbortController().signal

afterEach(() => {
  vi.useRealTimers()
})

/** A call whose service does as the test says. */
function begin() {
  const { promise, resolve, reject } = Promise.withResolvers<RemoteToolResult>()
  const running = new RunningCall('maps', { elicitation: {} }, async ({ signal }) => {
    signal.addEventListener('abort', () => reject(signal.reason))
    return await promise
  })
  const messageOf = (sent: unknown) => running.requestInput(sent, never).catch(({ message }: Error) => message)
  return { running, finish: () => resolve(result), ask: messageOf }
}

async function requireInput({ running, ask }: ReturnType<typeof begin>) {
  const first = running.run(leg)
  const answer = ask(question)
  const required = await first
  if (!(required instanceof InputRequiredResult)) throw new Error('no input is required')
  return { required, answer }
}

test('the input of the next leg answers the service', async () => {
  const call = begin()
  const { required, answer } = await requireInput(call)
  expect(required.requests).toEqual({ 'input-1': question })
  const next = call.running.run({ ...leg, continuation: { responses: { 'input-1': { action: 'accept' } } } })
  expect(await answer).toEqual({ action: 'accept' })
  call.finish()
  expect(await next).toBe(result)
})

test('the service learns that the client refuses', async () => {
  const call = begin()
  const { answer } = await requireInput(call)
  void call.running.run({ ...leg, continuation: { responses: {}, refused: ['input-1'] } }).catch(() => undefined)
  expect(await answer).toBe('the client did not give the input')
  call.finish()
})

test('a request that is not answered is required again', async () => {
  const call = begin()
  await requireInput(call)
  const next = await call.running.run({ ...leg, continuation: { responses: { other: {} } } })
  expect(next).toMatchObject({ requests: { 'input-1': question } })
  call.finish()
})

test.each([
  ['that the client does not take', { method: 'sampling/createMessage', params: {} }, 'does not take'],
  ['of another kind', { method: 'roots/list', params: {} }, 'not a valid one'],
])('a request %s is refused at once', async (_, request, message) => {
  const call = begin()
  const running = call.running.run(leg)
  expect(await call.ask(request)).toContain(message)
  call.finish()
  expect(await running).toBe(result)
})

test('a service requests only so much at once', async () => {
  const call = begin()
  const running = call.running.run(leg)
  const answers = Array.from({ length: 9 }, () => call.ask(question))
  expect(await answers[8]).toContain('too much input')
  await running
  call.running.end()
  expect(await answers[0]).toContain('cancelled')
})

test('a call ends with its caller, and with its time limit', async () => {
  const ending = new AbortController()
  const cancelled = begin()
  const running = cancelled.running.run({ ...leg, cancelled: ending.signal })
  ending.abort()
  await expect(running).rejects.toMatchObject({ code: 'timeout', message: expect.stringContaining('cancelled') })
  await cancelled.running.ended
  vi.useFakeTimers()
  const late = begin()
  const waiting = late.running.run(leg).catch(({ message }: Error) => message)
  vi.advanceTimersByTime(leg.timeout_ms)
  expect(await waiting).toContain('did not answer within 60000 ms')
})

test('the wait for input does not count, and ends', async () => {
  vi.useFakeTimers()
  const call = begin()
  const { answer } = await requireInput(call)
  vi.advanceTimersByTime(max_input_wait_ms - 1)
  expect(call.running.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(await answer).toBe('the call was cancelled')
  await call.running.ended
})

test('nothing of a call is kept after its result', async () => {
  vi.useFakeTimers()
  const call = begin()
  const { answer } = await requireInput(call)
  call.finish()
  expect(await answer).toBe('the call has ended')
  expect(vi.getTimerCount()).toBe(0)
  expect(await call.ask(question)).toBe('the call has ended')
  expect(vi.getTimerCount()).toBe(0)
})
