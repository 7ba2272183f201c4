// The demo of ingestion as a newcomer runs it: what it reports is in the files that it took in.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../support/command/run-command.ts'
import { runExecutable } from '../support/command/run-executable.ts'
import type { EnclosedRun } from '../support/network/enclosure.ts'
import { runDemo, testEgress } from '../support/network/run-demo.ts'

let base: string
let dir: string
let run: EnclosedRun
let report: Json

beforeAll(async () => {
  base = fs.mkdtempSync(path.join(tmpdir(), 'demo-ingest-'))
  dir = path.join(base, 'D')
  run = await runDemo(['ingest'], dir, base, base)
  report = JSON.parse(run.stdout)
})
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

/** Records of each source, as the truth about them lists them. */
function countTruth(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of fs.readFileSync('samples/branches/truth.csv', 'utf8').trimEnd().split('\n').slice(1)) {
    const [source = ''] = line.split(',')
    counts.set(source, (counts.get(source) ?? 0) + 1)
  }
  return counts
}

testEgress(() => run)

test('every record of the five files and of the database lands', () => {
  const counts = countTruth()
  expect(counts.size).toBe(6)
  const landed = new Map(report.landed.map(({ task, rows_out }: Json) => [task, rows_out]))
  for (const [source, records] of counts) expect([source, landed.get(source)]).toEqual([source, records])
  for (const { rejects } of report.landed) expect(rejects).toBe(0)
  expect(report.resolution.records).toBe([...counts.values()].reduce((sum, count) => sum + count, 0))
})

test('records of several sources are one customer, about as many as there are', () => {
  const people = 207
  expect(Math.abs(report.resolution.entities - people)).toBeLessThanOrEqual(5)
  expect(new Set(report.entity.origins.map(({ node_id }: Json) => node_id)).size).toBeGreaterThanOrEqual(4)
})

test('each record of the customer leads to the line of the file that has it', () => {
  const sources = path.join(dir, 'sources/alpha')
  let lines = 0
  for (const { record_id, rows } of report.entity.origins) {
    let [{ inputs }] = rows
    while (inputs[0].origin) inputs = inputs[0].origin.inputs
    const [{ kind, name, unit, place }] = inputs
    expect(['file', 'source']).toContain(kind)
    if (unit !== 'line' || kind !== 'file') continue
    const text = fs.readFileSync(path.join(sources, name), 'latin1')
    expect(text.split(/\r?\n/)[place - 1]).toContain(record_id)
    lines += 1
  }
  expect(lines).toBeGreaterThan(0)
})

test('for people it names the tasks, the customer and the lines', () => {
  expect(run.stderr).toMatch(/read_north: 64 rows of north\.csv landed, 0 rejected/)
  expect(run.stderr).toMatch(/resolve: 401 records are \d+ customers/)
  expect(run.stderr).toMatch(/line \d+ of \S+, SHA-256 [0-9a-f]{64}/)
})

test('a folder that is not empty is refused', async () => {
  expect(await runExecutable(['demo', 'ingest', '--dir', dir], { cwd: base })).toMatchObject({ exit: 3 })
})
