// The words of `signal` and `insight` against a running site: from a signal raised to an investigation closed.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('signals')
const site = path.join(dir, 'alpha')
const env = { PLATFORM_SITE: site }
let running: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  const profile = path.join(site, 'profile.yaml')
  const text = readFileSync(profile, 'utf8').replace(/roles: \[.*\]/, 'roles: [site, intelligence]')
  const source = {
    ...{ kind: 'folder', name: 'drop', path: dir },
    mapping: {
      ...{ signal_type: { value: 'drop' }, severity: '/level', title: '/title' },
      subject: { type: { value: 'asset' }, id: '/host' },
    },
  }
  const intake = JSON.stringify({ sources: [source] })
  writeFileSync(profile, `${text}\nintelligence: { port: 0 }\nintake: ${intake}\n`)
  running = await serveSite(site)
})
afterAll(async () => {
  await running.stop()
  remove()
})

const runJson = (...words: string[]) => runJsonCommand(words, { env })
const runText = async (...words: string[]) => (await runCommand(words, { env })).stdout
const subjectOptions = ['--subject-type', 'asset', '--subject-id', 'ship-1', '--subject-name', 'Aurora']
const raiseSignal = (...more: string[]) =>
  runJson(
    'signal',
    'create',
    '--type',
    'watchlist_hit',
    '--severity',
    'high',
    '--title',
    'at anchor',
    ...subjectOptions,
    ...more,
  )

test('a signal is raised, seen, disposed of and found again', async () => {
  const { uid } = await raiseSignal('--source-name', 'desk', '--classification', 'UNCLASSIFIED')
  expect(await runJson('signal', 'acknowledge', uid, '--note', 'on it')).toMatchObject({ acknowledgment_note: 'on it' })
  const shown = await runText('signal', 'show', uid)
  expect(shown).toMatch(/subject +Aurora \(asset ship-1\)/)
  expect(shown).toMatch(/new +acknowledged +\S+ +on it/)
  const refused = await runCommand(['signal', 'dispose', uid, '--to', 'resolved', '--rationale', 'quick'], { env })
  expect([refused.exit, refused.stderr]).toEqual([3, expect.stringContaining('may become investigating, dismissed')])
  expect(await runJson('signal', 'archive', uid, '--rationale', 'a buoy')).toMatchObject({ status: 'dismissed' })
  const { items } = await runJson(
    'signal',
    'list',
    '--status',
    'dismissed',
    '--subject',
    'ship-1',
    '--type',
    'watchlist_hit',
  )
  expect(items).toMatchObject([{ uid, metadata: { archived: true } }])
  expect(await runText('signal', 'list', '--severity', 'info')).toContain('No signals match')
})

test('many signals are disposed of by one decision, counted first', async () => {
  const many = [await raiseSignal('--source-name', 'buoys'), await raiseSignal('--source-name', 'buoys')]
  const which = ['--source-name', 'buoys', '--status', 'new', '--to', 'dismissed']
  expect(await runJson('signal', 'dispose', ...which, '--dry-run')).toMatchObject({ matches: 2, would_be_done: 2 })
  const silent = await runCommand(['signal', 'dispose', ...which, '--rationale', 'a storm'], { env })
  expect([silent.exit, silent.stderr]).toEqual([3, expect.stringContaining('--yes')])
  const done = await runJson('signal', 'dispose', ...which, '--rationale', 'a storm', '--yes')
  expect(done).toMatchObject({ state: 'finished', done: 2 })
  const again = await runCommand(
    ['signal', 'dispose', ...many.map(({ uid }) => uid), ...which.slice(4), '--rationale', 'x'],
    { env },
  )
  expect([again.exit, again.stdout]).toEqual([3, expect.stringMatching(/refused +2[\s\S]*is final/)])
  expect(await runText('signal', 'bulk', 'show', done.uid)).toMatch(/rationale +a storm/)
})

test('a repeat under a key finds the signal, and must say when it was detected', async () => {
  const key = ['--idempotency-key', 'one']
  const detected = ['--detected', '2026-03-02T11:00:00Z']
  expect((await raiseSignal(...key, ...detected)).uid).toBe((await raiseSignal(...key, ...detected)).uid)
  const words = ['signal', 'create', '--type', 't', '--severity', 'low', '--title', 't', ...subjectOptions, ...key]
  expect((await runCommand(words, { env })).exit).toBe(2)
})

test('an insight goes from a signal to an attested edition, and its ledger tells it', async () => {
  const [first, second] = [await raiseSignal(), await raiseSignal()]
  const { uid } = await runJson('insight', 'open', first.uid, '--title', 'Why is she there?')
  expect(await runJson('signal', 'link', second.uid, '--insight', uid)).toMatchObject({ linked_insight_ids: [uid] })
  const early = await runCommand(['insight', 'close', uid, '--rationale', 'done'], { env })
  expect([early.exit, early.stderr]).toEqual([3, expect.stringContaining(`${first.uid} (new), ${second.uid} (new)`)])
  await runJson('insight', 'start', uid)
  const { editions } = await runJson('insight', 'edition', uid, '--title', 'Known', '--summary', 'engine', '--closes')
  await runJson('insight', 'attest', uid, '--edition', editions[0].edition_id)
  await vi.waitFor(async () => expect((await runJson('insight', 'show', uid)).state).toBe('closed'), {
    timeout: 60_000,
  })
  expect(await runJson('signal', 'show', second.uid)).toMatchObject({ status: 'resolved' })
  expect((await runJson('insight', 'list', '--state', 'closed')).items).toMatchObject([{ uid }])
  const ledger = await runText('insight', 'ledger', uid)
  expect(ledger).toMatch(/1 .*insight_opened[\s\S]*signal_linked[\s\S]*edition_attested[\s\S]*insight_closed/)
  expect(await runText('insight', 'show', uid)).toMatch(/state +closed[\s\S]*Known +true/)
})

test('merges and separates duplicates, and a silence hides noisy signals', async () => {
  const [one, two] = [await raiseSignal(), await raiseSignal()]
  const seen = await runText('signal', 'merge', one.uid, '--from', two.uid, '--rationale', 'one and the same')
  expect(seen).toMatch(new RegExp(`stands for +${two.uid}`))
  expect(await runJson('signal', 'unmerge', two.uid, '--rationale', 'two ships')).toMatchObject({
    visibility: 'listed',
  })
  const silence = ['signal', 'silence', 'create', '--source-name', 'loud-*', '--reason', 'serviced', '--for', '1h']
  const { uid } = await runJson(...silence)
  expect(await raiseSignal('--source-name', 'loud-7')).toMatchObject({ visibility: 'silenced', silence_id: uid })
  expect(await runText('signal', 'silence', 'list')).toMatch(/active .*source name loud-\*.* 1$/m)
  expect(await runText('signal', 'silence', 'end', uid, '--rationale', 'done')).toMatch(/state +ended[\s\S]*done/)
})

test('a source is listed and tried, with a sample that is a signal and one that is none', async () => {
  expect((await runJson('signal', 'source', 'list')).items).toMatchObject([
    { name: 'drop', kind: 'folder', refused: 0 },
  ])
  const sample = path.join(dir, 'sample.json')
  writeFileSync(sample, JSON.stringify({ level: 'low', title: 'a drop', host: 'h1' }))
  expect(await runText('signal', 'source', 'test', 'drop', '--sample', sample)).toMatch(
    /works +yes[\s\S]+drop +low +h1 +a drop/,
  )
  writeFileSync(sample, JSON.stringify({ level: 'urgent', host: 'h1' }))
  const none = await runCommand(['signal', 'source', 'test', 'drop', '--sample', sample], { env })
  expect([none.exit, none.stdout]).toEqual([5, expect.stringContaining('severity')])
  writeFileSync(sample, '[')
  expect((await runCommand(['signal', 'source', 'test', 'drop', '--sample', sample], { env })).exit).toBe(2)
})
