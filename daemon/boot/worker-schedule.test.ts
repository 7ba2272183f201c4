// Holds scheduled workers to their times over stops, crashes and clocks that jump, with their record on disk.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sqliteScheduleRecord } from '../../adapters/store/sqlite/schedule/schedule-record.ts'
import { type SqliteFile, sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { sampleTrace } from '../../test/support/trace/sample-trace.ts'
import type { Call } from '../kernel/operation/call.ts'
import type { CronSetting, Worker } from '../kernel/role/role.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { type RunningWorkers, startWorkers } from './workers.ts'

const hour_ms = 3_600_000
let dir: string
let file: SqliteFile
let running: RunningWorkers | undefined
let now: number
let runs: string[]
let logged: string[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  dir = mkdtempSync(path.join(tmpdir(), 'schedule-'))
  file = openFile()
  now = Date.parse('2026-03-02T00:00:00Z')
  runs = []
  logged = []
})
afterEach(async () => {
  vi.useRealTimers()
  await running?.stop()
  await file.close()
  rmSync(dir, { recursive: true, force: true })
})

const openFile = () => sqliteFile({ file: path.join(dir, 'role.db'), addonDir: dir })
const nightly: CronSetting = { expression: '0 3 * * *', zone: 'UTC' }

/** Runs note the clock; `during` happens within each. */
function start(cron: CronSetting = nightly, during: () => Promise<void> | void = () => undefined): void {
  const worker: Worker = {
    name: 'backup',
    when: { cron: () => cron },
    async run() {
      runs.push(new Date(now).toISOString().slice(5, 16))
      await during()
    },
  }
  const note = (event: string) => void logged.push(event)
  running = startWorkers({
    ...{ role: 'site', workers: [worker], settings: {} as ResolvedSettings, record: sqliteScheduleRecord(file) },
    log: { debug: note, info: note, warn: note, error: note } satisfies Log,
    now: () => now,
    newCall: (address, signal) => ({ address, signal, trace: sampleTrace }) as Call,
  })
}

/** The process is gone at once, whatever it was doing; its file is opened again. */
async function crash(): Promise<void> {
  const stopped = running?.stop()
  running = undefined
  await stopped
  await file.close()
  file = openFile()
}

/** Lets everything happen that is due by now, the disk included. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) {
    await vi.advanceTimersByTimeAsync(60_000)
    await file.write(() => undefined)
  }
}

/** The clock goes on minute by minute, as it does. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 60_000) {
    now += 60_000
    await vi.advanceTimersByTimeAsync(60_000)
    await file.write(() => undefined)
  }
}

async function jumpTo(instant: string): Promise<void> {
  now = Date.parse(instant)
  await settle()
}

test('a schedule that is new runs at its next time, once a day', async () => {
  start()
  await pass(2 * hour_ms)
  expect(runs).toEqual([])
  await pass(48 * hour_ms)
  expect(runs).toEqual(['03-02T03:00', '03-03T03:00'])
})

test('times that passed while the process was down lead to one run at the start', async () => {
  start()
  await settle()
  await crash()
  now = Date.parse('2026-03-09T12:00:00Z')
  start()
  await settle()
  expect(runs).toEqual(['03-09T12:00'])
  await pass(24 * hour_ms)
  expect(runs).toEqual(['03-09T12:00', '03-10T03:00'])
})

test('a restart after a run repeats nothing', async () => {
  start()
  await pass(4 * hour_ms)
  for (let restarts = 0; restarts < 3; restarts++) {
    await crash()
    start()
    await settle()
  }
  expect(runs).toEqual(['03-02T03:00'])
})

test.each(['2026-03-02T02:30', '2026-03-01T12:00', '2026-02-20T00:00'])(
  'a clock that was put back to %s, with or without a restart, runs no time twice',
  async (earlier) => {
    start()
    await pass(4 * hour_ms)
    await jumpTo(`${earlier}:00Z`)
    await crash()
    start()
    await jumpTo('2026-03-02T03:00:00Z')
    await jumpTo('2026-03-02T23:00:00Z')
    expect(runs).toEqual(['03-02T03:00'])
    await jumpTo('2026-03-03T03:00:00Z')
    expect(runs).toEqual(['03-02T03:00', '03-03T03:00'])
  },
)

test('a clock that ran ten years ahead stops the schedule for one time only', async () => {
  start()
  await pass(4 * hour_ms)
  await jumpTo('2036-07-01T00:00:00Z')
  await jumpTo('2026-03-02T05:00:00Z')
  await pass(72 * hour_ms)
  expect(runs).toEqual(['03-02T03:00', '07-01T00:00', '03-04T03:00', '03-05T03:00'])
})

test('after a clock that ran ahead was put back, times that a run stood for come at their own time, each once', async () => {
  start({ expression: '0 * * * *', zone: 'UTC' })
  await pass(hour_ms)
  await jumpTo('2026-03-02T05:30:00Z')
  await jumpTo('2026-03-02T03:30:00Z')
  await crash()
  start({ expression: '0 * * * *', zone: 'UTC' })
  await pass(3 * hour_ms)
  expect(runs).toEqual(['03-02T01:00', '03-02T05:30', '03-02T04:00', '03-02T05:00', '03-02T06:00'])
})

test('a schedule that was first seen by a clock that ran ahead begins by the right one', async () => {
  now = Date.parse('2036-07-01T00:00:00Z')
  start()
  await settle()
  await jumpTo('2026-03-02T00:00:00Z')
  await pass(4 * hour_ms)
  expect(runs).toEqual(['03-02T03:00'])
})

test('a clock that ran ahead for long enough to run again is reported at the next start', async () => {
  start()
  await jumpTo('2036-07-01T00:00:00Z')
  await jumpTo('2036-07-02T12:00:00Z')
  await crash()
  await jumpTo('2026-03-03T00:00:00Z')
  start()
  await settle()
  expect(logged).toEqual(['site.worker.backup.ahead'])
})

test('a run that a stop cuts short is made again after the next start', async () => {
  let release: () => void = () => undefined
  start(nightly, () => new Promise<void>((resolve) => (release = resolve)))
  await settle()
  await jumpTo('2026-03-02T03:00:00Z')
  expect(runs).toHaveLength(1)
  const stopped = running?.stop()
  release()
  await stopped
  await crash()
  start()
  await settle()
  expect(runs).toHaveLength(2)
  await crash()
  start()
  await settle()
  expect(runs).toHaveLength(2)
})

test('a run that fails waits for its next time', async () => {
  start(nightly, () => {
    throw new Error('no space')
  })
  await pass(30 * hour_ms)
  expect(runs).toEqual(['03-02T03:00', '03-03T03:00'])
  expect(new Set(logged)).toEqual(new Set(['site.worker.backup.failed']))
})

test('times that pass during a run lead to one run after it', async () => {
  let release: () => void = () => undefined
  start({ expression: '* * * * *', zone: 'UTC' }, () => new Promise<void>((resolve) => (release = resolve)))
  await pass(20 * 60_000)
  expect(runs).toHaveLength(1)
  release()
  await settle()
  expect(runs).toHaveLength(2)
  release()
})

test('another schedule, or another zone, begins anew', async () => {
  start()
  await pass(4 * hour_ms)
  await crash()
  now = Date.parse('2026-03-05T00:30:00Z')
  start({ expression: '0 3 * * *', zone: 'Europe/Berlin' })
  await settle()
  expect(runs).toEqual(['03-02T03:00'])
  await pass(2 * hour_ms)
  expect(runs).toEqual(['03-02T03:00', '03-05T02:00'])
})
