// The command of the scheduler DAG on a worker: it leaves one file with a time, and follows no link.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../support/command/run-command.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'workers-'))
  const made = folder
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

const tick = (name: string, at: string) =>
  runCommand(['ingest', 'tick', name, '--folder', folder, '--at', at, '--json'])

test('each tick replaces the one before, and what a killed process left', async () => {
  rmSync(folder, { recursive: true })
  for (const at of ['2026-03-02T12:00:00Z', '2026-03-02T12:30:00Z']) {
    const { exit, stdout } = await tick('alpha', at)
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      { format: 1, site: 'alpha', at: expect.stringMatching(at.slice(0, 16)) },
    ])
    writeFileSync(path.join(folder, 'ticks', '.alpha.json.draft'), 'half')
  }
  expect((await tick('bravo', '2026-03-02T13:00:00Z')).exit).toBe(0)
  expect((await tick('alpha', '2026-03-02T13:00:00Z')).exit).toBe(0)
  const ticks = path.join(folder, 'ticks')
  expect(readdirSync(ticks).toSorted()).toEqual(['alpha.json', 'bravo.json'])
  expect(JSON.parse(readFileSync(path.join(ticks, 'alpha.json'), 'utf8')).at).toMatch(/^2026-03-02T13:00:00/)
  expect(statSync(path.join(ticks, 'alpha.json')).mode & 0o777).toBe(0o644)
})

test('a link in place of the draft, or of the folder, is not followed', async () => {
  const elsewhere = path.join(folder, 'elsewhere')
  const ticks = path.join(folder, 'ticks')
  mkdirSync(ticks)
  writeFileSync(elsewhere, 'kept')
  symlinkSync(elsewhere, path.join(ticks, '.alpha.json.draft'))
  expect((await tick('alpha', '2026-03-02T12:00:00Z')).exit).toBe(0)
  expect(readFileSync(elsewhere, 'utf8')).toBe('kept')
  rmSync(ticks, { recursive: true })
  mkdirSync(path.join(folder, 'other'))
  symlinkSync(path.join(folder, 'other'), ticks)
  expect(await tick('alpha', '2026-03-02T12:00:00Z')).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('ENOTDIR'),
  })
  expect(readdirSync(path.join(folder, 'other'))).toEqual([])
})

test.each([
  ['../alpha', '2026-03-02T12:00:00Z'],
  ['Alpha', '2026-03-02T12:00:00Z'],
  ['alpha', 'soon'],
])('a tick of %s at %s is refused', async (name, at) => {
  expect((await tick(name, at)).exit).toBe(2)
  expect(readdirSync(folder)).toEqual([])
})
