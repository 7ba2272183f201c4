// Holds how workers run: at their times, when woken, never twice at once, and to their end before a stop is done.

import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { sampleTrace } from '../../test/support/trace/sample-trace.ts'
import { refuse } from '../kernel/error/errors.ts'
import type { Call } from '../kernel/operation/call.ts'
import type { Worker } from '../kernel/role/role.ts'
import type { ScheduleRecord } from '../kernel/schedule/due-time.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { type RunningWorkers, startWorkers, type WorkerOptions } from './workers.ts'

const settings: ResolvedSettings = {
  values: new Map(),
  origins: new Map(),
  problems: [],
} as unknown as ResolvedSettings
const long_ms = 600_000
const startedWorkers: RunningWorkers[] = []
afterEach(async () => {
  for (const workers of startedWorkers.splice(0)) await workers.stop()
})

/** A record of schedules that none of these tests reads. */
const memoryless: ScheduleRecord = { read: () => undefined, write: async () => undefined }

/** A worker whose runs end when the test says so. */
function blockingWorker(when: Worker['when'] = { every_ms: long_ms }) {
  const open: (() => void)[] = []
  const seen = { begun: 0, ended: 0, most: 0, signal: undefined as AbortSignal | undefined, address: '' }
  const worker: Worker = {
    name: 'work',
    when,
    async run(call) {
      seen.begun += 1
      seen.most = Math.max(seen.most, seen.begun - seen.ended)
      seen.signal = call.signal
      seen.address = call.address
      await new Promise<void>((resolve) => open.push(resolve))
      seen.ended += 1
    },
  }
  return { worker, seen, release: () => open.shift()?.() }
}

function startTestWorkers(...workers: Worker[]) {
  return startWorkersAt({ record: memoryless, now: Date.now }, ...workers)
}

function startWorkersAt(schedule: Pick<WorkerOptions, 'record' | 'now'>, ...workers: Worker[]) {
  const logged: string[] = []
  const silent = () => undefined
  const log: Log = { debug: silent, info: silent, warn: silent, error: (event) => void logged.push(event) }
  const newCall = (address: string, signal: AbortSignal) => ({ address, signal, trace: sampleTrace }) as Call
  const made = startWorkers({ role: 'role', workers, settings, log, newCall, ...schedule })
  startedWorkers.push(made)
  return { ...made, logged }
}

test('a periodic worker runs at once, under its address, and again each time', async () => {
  const { worker, seen, release } = blockingWorker({ every_ms: 1 })
  const { stop } = startTestWorkers(worker)
  expect(seen).toMatchObject({ begun: 1, address: 'role.worker.work' })
  for (const turn of [2, 3, 4]) {
    release()
    await expect.poll(() => seen.begun).toBe(turn)
  }
  release()
  await stop()
})

test('it never runs twice at once, and any number of wakes during a run lead to one more', async () => {
  const { worker, seen, release } = blockingWorker()
  const { wake, stop } = startTestWorkers(worker)
  for (let times = 0; times < 5; times++) wake('work')
  expect(seen.begun).toBe(1)
  release()
  await expect.poll(() => seen.begun).toBe(2)
  release()
  await expect.poll(() => seen.ended).toBe(2)
  await stop()
  expect(seen).toMatchObject({ begun: 2, ended: 2, most: 1 })
})

test('a wake while it rests runs it now', async () => {
  const { worker, seen, release } = blockingWorker()
  const { wake, stop } = startTestWorkers(worker)
  release()
  await expect.poll(() => seen.ended).toBe(1)
  wake('work')
  await expect.poll(() => seen.begun).toBe(2)
  release()
  await stop()
})

test('a worker by a schedule waits for it, or for a wake', async () => {
  const { worker, seen, release } = blockingWorker({ cron: () => undefined })
  const { wake, stop } = startTestWorkers(worker)
  expect(seen.begun).toBe(0)
  wake('work')
  await expect.poll(() => seen.begun).toBe(1)
  release()
  await stop()
  const soon = blockingWorker({ cron: () => ({ expression: '* * * * * *', zone: 'UTC' }) })
  const scheduled = startTestWorkers(soon.worker)
  await expect.poll(() => soon.seen.begun, { timeout: 5_000 }).toBe(1)
  soon.release()
  await scheduled.stop()
})

test('a stop tells the run under way, waits for it, and nothing runs after it', async () => {
  const { worker, seen, release } = blockingWorker({ every_ms: 1 })
  const { stop, wake } = startTestWorkers(worker)
  let isStopped = false
  wake('work')
  const stopping = stop().then(() => {
    isStopped = true
  })
  expect(seen.signal?.aborted).toBe(true)
  await new Promise((resolve) => setImmediate(resolve))
  expect(isStopped).toBe(false)
  release()
  await stopping
  wake('work')
  await new Promise((resolve) => setImmediate(resolve))
  expect(seen).toMatchObject({ begun: 1, ended: 1 })
})

test('a worker that fails, at once or later, is logged, runs again, and disturbs no other', async () => {
  let runs = 0
  const failing: Worker = {
    name: 'failing',
    when: { every_ms: 1 },
    run() {
      runs += 1
      if (runs % 2) throw new Error('at once')
      return Promise.reject(new Error('later'))
    },
  }
  const { worker, seen, release } = blockingWorker()
  const { logged, stop } = startTestWorkers(failing, worker)
  await expect.poll(() => runs).toBeGreaterThan(3)
  release()
  await expect.poll(() => seen.ended).toBe(1)
  await stop()
  expect(new Set(logged)).toEqual(new Set(['role.worker.failing.failed']))
})

test('a scheduled run that a part of the site held up is repeated after a minute, and its time is handled then', async () => {
  const times = vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const now = Date.parse('2026-03-02T12:00:00Z')
  const night = Date.parse('2026-03-02T02:30:00Z')
  const handled: number[] = []
  const record: ScheduleRecord = {
    read: () => ({ due: 0, until: night - 1 }),
    write: async (_worker, _schedule, { due }) => void handled.push(due),
  }
  let runs = 0
  const worker: Worker = {
    name: 'work',
    when: { cron: () => ({ expression: '30 2 * * *', zone: 'UTC' }) },
    async run() {
      runs += 1
      if (runs < 3) throw refuse('unavailable', 'the store does not answer')
    },
  }
  const { stop } = startWorkersAt({ record, now: () => now }, worker)
  for (const run of [1, 2]) {
    await times.advanceTimersByTimeAsync(run === 1 ? 0 : 60_000)
    expect([runs, handled]).toEqual([run, []])
  }
  await times.advanceTimersByTimeAsync(60_000)
  expect([runs, handled]).toEqual([3, [night]])
  await stop()
})

test('a wake of a worker that the role does not have is refused: nothing would run', () => {
  const worker: Worker = { name: 'work', when: { every_ms: 60_000 }, run: async () => undefined }
  expect(() => startTestWorkers(worker).wake('wrok')).toThrow('the role role has no worker "wrok"; it has work')
})

test('two workers of one name are refused: a wake and the schedule on disk would be those of one of them', () => {
  const { worker } = blockingWorker()
  expect(() => startTestWorkers(worker, { ...worker })).toThrow('the role role has two workers named "work"')
})
