// The operations of the role that tests listeners: plain ones, failing ones, slow ones and a stream.
import * as z from 'zod'
import { Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import {
  type AnyOperation,
  operation,
  RawResponse,
  type ServerEvent,
} from '../../../daemon/kernel/operation/operation.ts'
import type { EchoControls, EchoEventListener } from './echo-role.ts'

const name = z.string().max(200)

export function buildPlainOperations(): Record<string, AnyOperation> {
  const common = { summary: 'For tests', errors: [], output: z.unknown() } as const
  const fields = z.strictObject({ id: name.optional(), text: z.string().optional(), number: z.number().optional() })
  return {
    open: operation({
      ...common,
      method: 'GET',
      path: '/open',
      input: z.strictObject({}),
      allow: 'public',
      run: async (call) => ({ subject: call.caller.subject, authorization: call.authorization }),
    }),
    read: operation({
      ...common,
      method: 'GET',
      path: '/echo/{id}',
      also: ['/also/{id}/echo'],
      input: z.strictObject({ id: name, limit: z.int().optional() }),
      allow: 'authenticated',
      versioned: true,
      run: async (call, { id, limit }) => ({
        id,
        limit,
        version: 7,
        accepts: call.accepts,
        trace: call.trace,
        authorization: call.authorization,
      }),
    }),
    write: operation({
      ...common,
      method: 'POST',
      path: '/echo/{id}',
      input: fields.extend({ id: name }),
      allow: 'echo:write',
      creates: true,
      status: 201,
      max_body_bytes: 10_000,
      run: async (call, input) => ({ ...input, if_match: call.if_match, key: call.idempotency_key }),
    }),
    any: operation({
      ...common,
      method: 'POST',
      path: '/any',
      input: z.looseObject({}),
      allow: 'authenticated',
      run: async (_call, input) => input,
    }),
    many: operation({
      ...common,
      method: 'POST',
      path: '/many',
      input: z.looseObject({}),
      allow: 'authenticated',
      max_body_values: 20_000,
      run: async (_call, input) => input,
    }),
    form: operation({
      ...common,
      method: 'POST',
      path: '/form',
      input: z.strictObject({ a: z.string(), b: z.string() }),
      allow: 'public',
      consumes: 'application/x-www-form-urlencoded',
      run: async (_call, input) => input,
    }),
    remove: operation({
      ...common,
      method: 'DELETE',
      path: '/echo/{id}',
      input: z.strictObject({ id: name }),
      allow: 'authenticated',
      status: 204,
      run: async () => undefined,
    }),
  }
}

/** Answers that are not plain JSON of success. */
export function buildOtherOperations(): Record<string, AnyOperation> {
  const common = { summary: 'For tests', errors: [], output: z.unknown() } as const
  return {
    text: operation({
      ...common,
      method: 'GET',
      path: '/text',
      input: z.strictObject({}),
      allow: 'public',
      inside: true,
      produces: ['text/plain'],
      run: async () => new RawResponse('text/plain; charset=utf-8', 'héllo', { 'X-Extra': 'yes' }),
    }),
    large: operation({
      ...common,
      method: 'GET',
      path: '/large',
      input: z.strictObject({ bytes: z.int(), letter: z.string().default('x') }),
      allow: 'authenticated',
      run: async (_call, { bytes, letter }) => ({ text: letter.repeat(bytes) }),
    }),
    change: operation({
      ...common,
      method: 'POST',
      path: '/change',
      input: z.strictObject({ bytes: z.int() }),
      allow: 'authenticated',
      run: async (_call, { bytes }) => ({ text: 'x'.repeat(bytes) }),
    }),
    busy: operation({
      ...common,
      method: 'GET',
      path: '/busy',
      input: z.strictObject({}),
      allow: 'public',
      run: async () => new Refusal('rate_limited', 'slow down', [], 17),
    }),
    broken: operation({
      ...common,
      method: 'GET',
      path: '/broken',
      input: z.strictObject({}),
      allow: 'public',
      run: async () => Promise.reject(new Error('at /secret/place')),
    }),
    down: operation({
      ...common,
      method: 'GET',
      path: '/down',
      input: z.strictObject({}),
      allow: 'public',
      run: async () => refuse('unavailable', 'the disk is gone'),
    }),
  }
}

export function buildSlowOperations(
  handle: EchoControls,
  gates: (() => void)[],
  listeners: Set<EchoEventListener>,
): Record<string, AnyOperation> {
  const common = { summary: 'For tests', errors: [], output: z.unknown(), allow: 'public' } as const
  const input = z.strictObject({})
  const run: AnyOperation['run'] = async (call) => {
    handle.signals.push(call.signal)
    await new Promise<void>((resolve) => gates.push(resolve))
    return { waited: true }
  }
  return {
    wait: operation({ ...common, method: 'POST', path: '/wait', input, run }),
    /** Longer and shorter than the usual time limit. */
    study: operation({
      ...common,
      method: 'POST',
      path: '/study',
      input,
      run,
      allow: 'authenticated',
      time_limit_ms: 600_000,
    }),
    glance: operation({ ...common, method: 'POST', path: '/glance', input, run, time_limit_ms: 50 }),
    stream: operation({
      ...common,
      method: 'GET',
      path: '/stream',
      input: z.strictObject({ many: z.int().default(0) }),
      streams: true,
      run: async (call, { many }) => {
        handle.signals.push(call.signal)
        const from = Number(call.last_event_id ?? 0)
        return new RawResponse('text/event-stream', streamEvents(from, buildBigEvents(handle, many), listeners))
      },
    }),
  }
}

function* buildBigEvents(handle: EchoControls, many: number): Generator<ServerEvent> {
  for (let id = 0; id < many; id++) {
    handle.taken++
    yield { id: `m${id}`, event: 'big', data: 'x'.repeat(10_000) }
  }
}

/** Stored events after `from`, the big ones, then live ones; the event "end" ends it, "fail" throws. */
async function* streamEvents(
  from: number,
  big: Iterable<ServerEvent>,
  listeners: Set<EchoEventListener>,
): AsyncGenerator<ServerEvent> {
  const queue: ServerEvent[] = []
  let wake = () => {}
  const listener = (event: ServerEvent) => {
    queue.push(event)
    wake()
  }
  listeners.add(listener)
  try {
    for (let id = from + 1; id <= 3; id++) yield { id: String(id), event: 'stored', data: { id } }
    yield* big
    for (;;) {
      const next = queue.shift()
      if (next?.event === 'end') return
      if (next?.event === 'fail') throw new Error('at /secret/place')
      if (next) yield next
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    listeners.delete(listener)
  }
}
