// A fault of a retried task is logged once, and reported by health for as long as it lasts.
import { beforeEach, expect, test } from 'vitest'
import { refuse } from '../../kernel/error/errors.ts'
import { newTrace } from '../../kernel/telemetry/trace.ts'
import { type RetriedTask, retriedTask, type TaskTroubles } from './retried-task.ts'

let logged: [string, unknown][]
let next: () => Promise<TaskTroubles>
let work: RetriedTask

beforeEach(() => {
  logged = []
  work = retriedTask('resolve-writes', 'all writes', () => next())
})

async function run(...troubles: [string, string][]): Promise<void> {
  next = async () => new Map(troubles)
  await runOnce()
}

async function runOnce(): Promise<void> {
  const note = (event: string, { held_up, why }: { held_up?: unknown; why?: unknown } = {}) => {
    logged.push([event.replace('platform.cluster.', ''), why === undefined ? held_up : `${held_up}: ${why}`])
  }
  const log = { error: note, info: note, warn: note, debug: note }
  const trace = newTrace((bytes) => '07'.repeat(bytes))
  await work.run({ log, trace, signal: new AbortController().signal } as never)
}

test('the task logs a fault when it begins, changes and ends', async () => {
  await run(['session', 'gone'])
  await run(['session', 'gone'])
  await run(['session', 'gone'], ['dissent', 'full'])
  expect(await work.health()).toEqual({ ok: false, detail: 'session: gone; dissent: full' })
  await run(['session', 'silent'])
  await run()
  await run()
  expect(logged).toEqual([
    ['failing', 'session: gone'],
    ['failing', 'dissent: full'],
    ['failing', 'session: silent'],
    ['recovered', 'dissent'],
    ['recovered', 'session'],
  ])
  expect(await work.health()).toEqual({ ok: true, detail: 'ok' })
})

test('a refusal of all writes is logged as one fault', async () => {
  next = async () => {
    throw refuse('unavailable', 'no connection')
  }
  await runOnce()
  await runOnce()
  expect(logged).toEqual([['failing', 'all writes: no connection']])
  expect(await work.health()).toEqual({ ok: false, detail: 'all writes: no connection' })
})

test('the task rethrows an unexpected error, and health reports it without its text', async () => {
  next = async () => {
    throw new Error('an inside matter')
  }
  await expect(runOnce()).rejects.toThrow('an inside matter')
  expect(await work.health()).toEqual({ ok: false, detail: 'all writes: it failed; see the log' })
  await run()
  expect(logged).toEqual([['recovered', 'all writes']])
})
