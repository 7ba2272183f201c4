// Knowledge about signals by the command line: their changes, similar ones, the precision of sources, and the export.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'
import { findStixFaults } from '../support/documents/find-stix-faults.ts'

const { dir, remove } = createScratchFolder('knowledge')
const site = path.join(dir, 'alpha')
const env = { PLATFORM_SITE: site }
let running: Awaited<ReturnType<typeof serveSite>>
let uids: string[]

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const profile = path.join(site, 'profile.yaml')
  const text = readFileSync(profile, 'utf8').replace(/roles: \[.*\]/, 'roles: [site, intelligence]')
  writeFileSync(profile, `${text}\nintelligence: { port: 0 }\n`)
  running = await serveSite(site)
  uids = [await raiseSignal(), await raiseSignal(), await raiseSignal()]
  await runJson('signal', 'dispose', uids[2] ?? '', '--to', 'dismissed', '--rationale', 'a\u001b[31mbuoy')
})
afterAll(async () => {
  await running.stop()
  remove()
})

const runJson = (...words: string[]) => runJsonCommand(words, { env })
const runText = async (...words: string[]) => (await runCommand(words, { env })).stdout
const subjectOptions = [
  '--subject-type',
  'asset',
  '--subject-id',
  'ship-1',
  '--subject-name',
  'Aurora',
  '--source-name',
  'desk',
]

async function raiseSignal(): Promise<string> {
  const options = ['--type', 'watchlist_hit', '--severity', 'high', '--title', 'Aurora at anchor']
  return (await runJson('signal', 'create', ...options, ...subjectOptions)).uid
}

test('changes are shown of one signal, and of all from a place on', async () => {
  const [first = '', , last = ''] = uids
  expect(await runText('signal', 'changes', last)).toMatch(
    /status - → new {2}by \S+\n.*status new → dismissed {2}by \S+ \(a\\u001b\[31mbuoy\)\n$/,
  )
  await vi.waitFor(async () => expect((await runJson('signal', 'changes')).items).toHaveLength(4), { timeout: 20_000 })
  const { items, next_since } = await runJson('signal', 'changes', '--limit', '3')
  expect(items).toHaveLength(3)
  const rest = await runJson('signal', 'changes', '--since', next_since)
  expect(rest.items).toHaveLength(1)
  expect(await runJson('signal', 'changes', '--since', rest.next_since)).toEqual({
    items: [],
    next_since: rest.next_since,
  })
  const both = await runCommand(['signal', 'changes', first, '--follow'], { env })
  expect([both.exit, both.stderr]).toEqual([2, expect.stringContaining('do not apply to the changes of one signal')])
})

test('similar ones are shown with their reasons, and where an investigation starts', async () => {
  const [first = '', second = '', over = ''] = uids
  const { items } = await runJson('signal', 'similar', first)
  expect(items.map((each: { signal: { uid: string } }) => each.signal.uid).toSorted()).toEqual(
    [second, over].toSorted(),
  )
  const open = await runText('signal', 'similar', first, '--open', '--min-score', '60')
  expect(open).toMatch(new RegExp(`${second} .*same_subject 40, same_type 15, same_source 15, words 20, near_in_time`))
  expect(open).not.toContain(over)
  const { uid } = await runJson('insight', 'open', first, '--title', 'Why is she there?')
  const started = await runText('insight', 'start', uid)
  expect(started).toMatch(new RegExp(`investigating[\\s\\S]*not linked:[\\s\\S]*${second}`))
  expect(started).not.toContain(over)
})

test('the precision of a source is shown, with its interval', async () => {
  const text = await runText('signal', 'statistics')
  expect(text).toMatch(/manual desk +watchlist_hit +2 +0 +1 +0 +0\.0 % \(0\.0 % to 79\.3 %\)/)
  expect((await runJson('signal', 'statistics', '--source', 'other')).items).toEqual([])
})

test('the export is one sound bundle, on the screen or in a new file of the caller alone', async () => {
  const bundle = JSON.parse(await runText('signal', 'export', '--stix'))
  expect(findStixFaults(bundle)).toEqual([])
  const out = path.join(dir, 'sightings.json')
  expect(await runJson('signal', 'export', '--stix', '--out', out)).toEqual({
    file: out,
    sightings: 3,
    not_releasable: 0,
  })
  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual(bundle)
  expect((await runCommand(['signal', 'export', '--stix', '--out', out], { env })).exit).not.toBe(0)
  const none = await runCommand(['signal', 'export', '--stix', '--releasable-to', 'FRA'], { env })
  expect(JSON.parse(none.stdout)).not.toHaveProperty('objects')
  expect(none.stderr).toContain('3 signals are not releasable to FRA')
  expect((await runCommand(['signal', 'export'], { env })).exit).toBe(2)
})
