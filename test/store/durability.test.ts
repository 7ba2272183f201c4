// Shows that nothing is acknowledged before it is on disk: by the system calls that are made, and by killing the process.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { notes } from '../conformance/store-requirement.ts'
import { openSqliteStore } from '../conformance/store-variants.ts'
import { requires } from '../support/runner/requires.ts'
import { groupCommitProbe } from './group-commit-probe.ts'
import { findEarlyAcknowledgements, parseSteps } from './system-calls.ts'

const callers = 64
let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'durability-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

requires('strace')('each acknowledgement follows a sync of what was written for it, shared by many', () => {
  const rounds = 20
  const output = path.join(folder, 'trace')
  const traced = ['-f', '-y', '-s', '64', '-e', 'trace=fsync,fdatasync,pwrite64,write', '-o', output]
  const command = [process.execPath, groupCommitProbe, folder, String(callers), String(rounds)]
  const { status, stderr } = spawnSync('strace', [...traced, ...command], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])

  const steps = parseSteps(readFileSync(output, 'utf8'))
  const count = (what: string) => steps.filter((step) => step.what === what).length
  expect(count('ack')).toBe(callers * rounds)
  expect(findEarlyAcknowledgements(steps)).toEqual([])
  // At least one for each round of all callers, since each waits for its own; at most few more.
  expect(count('journal-sync')).toBeGreaterThanOrEqual(rounds)
  expect(count('journal-sync')).toBeLessThanOrEqual(rounds * 4)
})

describe('the check itself', () => {
  const trace = (...calls: string[]) => parseSteps(calls.map((call) => `7 ${call}`).join('\n'))
  const ask = 'write(1<pipe:[1]>, "ask 0.0\\n", 8) = 8'
  const ack = 'write(1<pipe:[1]>, "ack 0.0\\n", 8) = 8'
  const journal = 'pwrite64(9</d/store.db-wal>, "x"..., 4096, 0) = 4096'
  const sync = 'fdatasync(9</d/store.db-wal>) = 0'

  test('accepts a sync between the write and the acknowledgement', () => {
    expect(findEarlyAcknowledgements(trace(ask, journal, sync, ack))).toEqual([])
    const parts = ['fdatasync(9</d/store.db-wal> <unfinished ...>', '<... fdatasync resumed>) = 0']
    expect(findEarlyAcknowledgements(trace(ask, journal, ...parts, ack))).toEqual([])
  })
  test.each([
    ['no sync', [ask, journal, ack]],
    ['a sync too early', [ask, sync, journal, ack]],
    ['a sync of an older write', [journal, sync, ask, ack]],
    ['a failed sync', [ask, journal, 'fdatasync(9</d/store.db-wal>) = -1 EIO (Input/output error)', ack]],
    ['a sync of another file', [ask, journal, 'fdatasync(8</d/store.db>) = 0', ack]],
    ['an unfinished sync', [ask, journal, 'fdatasync(9</d/store.db-wal> <unfinished ...>', ack]],
  ])('finds %s', (_what, calls) => {
    expect(findEarlyAcknowledgements(trace(...calls))).toEqual(['0.0'])
  })
})

const moments = fc.sample(fc.integer({ min: 1, max: 6_000 }), { seed: 11, numRuns: 5 })

test.each(moments)('killed after %i acknowledgements, it has kept every one', async (moment) => {
  const child = spawn(process.execPath, [groupCommitProbe, folder, String(callers), '1000000'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const acknowledged: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('ack ')) continue
    acknowledged.push(line.slice('ack '.length))
    if (acknowledged.length === moment) child.kill('SIGKILL')
  }
  if (child.signalCode === null) await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
  expect(acknowledged.length).toBeGreaterThanOrEqual(moment)

  const { store, audit } = openSqliteStore(folder)
  const lost = []
  for (const id of acknowledged) if (!(await store.get(notes, id))) lost.push(id)
  expect(lost).toEqual([])
  expect((await audit.head()).seq).toBe(await store.count(notes))
  expect(await store.check()).toEqual([])
  await store.close()
})
