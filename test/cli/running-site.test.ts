// Commands against a running site: sessions to their end, what proves them, and the data that holds them.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createScratchFolder,
  type Json,
  runCommand,
  runJsonCommand,
  serveSite,
} from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('running')
const site = path.join(dir, 'alpha')
const env = { PLATFORM_SITE: site }
const waitOptions = { timeout: 60_000 }
let running: Awaited<ReturnType<typeof serveSite>>
let analyst: { env: Record<string, string> }

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--tenant', 'acme', '--profile', 'demo'])
  running = await serveSite(site)
  const { token } = await runJsonCommand(
    ['token', 'mint', '--subject', 'demo', '--roles', 'analyst', '--clearance', 'SECRET'],
    {
      env,
    },
  )
  analyst = { env: { ...env, PLATFORM_TOKEN: token } }
})
afterAll(async () => {
  await running.stop()
  remove()
})

const createSession = (...more: string[]) =>
  runJsonCommand(
    ['consensus', 'create', '--lens', 'person', '--lens-version', '1', '--m', '2', '--n', '2', ...more],
    analyst,
  )

const contribute = (id: string, who: string, score: string) =>
  runJsonCommand(
    ['consensus', 'contribute', id, '--contributor', who, '--key', `${who}-1`, '--score', score].concat([
      '--accuracy',
      '0.9',
      '--credibility',
      '0.9',
    ]),
    analyst,
  )

async function ratifySession(): Promise<Json> {
  const { id } = await createSession()
  await contribute(id, 'alice', '0.9')
  return await contribute(id, 'bob', '0.95')
}

async function exportEvidence(id: string): Promise<string> {
  const file = path.join(dir, `${id}.json`)
  await expect
    .poll(async () => (await runCommand(['evidence', 'show', id, '--out', file], { env })).exit, waitOptions)
    .toBe(0)
  return file
}

type StreamedEvent = { readonly id: string; readonly event: string; readonly data: Json }

const parseEvents = (stdout: string): StreamedEvent[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('sessions', () => {
  test('two who agree ratify; watch tells each step and ends there', async () => {
    const session = await ratifySession()
    expect(session).toMatchObject({ state: 'RATIFIED', decision: 'match' })
    const watched = await runCommand(['consensus', 'watch', session.id, '--until', 'RATIFIED', '--json'], analyst)
    expect(watched.exit).toBe(0)
    const events = parseEvents(watched.stdout)
    expect(events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6'])
    expect(events.map(({ event, data }) => [event, data.to ?? data.contributor_id ?? data.state])).toEqual([
      ['state', 'PROPOSED'],
      ['contribution', 'alice'],
      ['state', 'PENDING_QUORUM'],
      ['contribution', 'bob'],
      ['state', 'RATIFIED'],
      ['result', 'RATIFIED'],
    ])
    const { items } = await runJsonCommand(['consensus', 'list', '--state', 'RATIFIED'], analyst)
    expect(items.map(({ id }: { id: string }) => id)).toContain(session.id)
  })

  test('watch resumes after an event, even one between a decision and its result, and reads well', async () => {
    const { id } = await ratifySession()
    const words = ['consensus', 'watch', id, '--until', 'RATIFIED', '--after']
    const resumed = await runCommand([...words, '5', '--json'], analyst)
    expect([resumed.exit, parseEvents(resumed.stdout).map((sent) => [sent.id, sent.event])]).toEqual([
      0,
      [['6', 'result']],
    ])
    const { exit, stdout } = await runCommand([...words, '1'], analyst)
    expect(exit).toBe(0)
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^ {2}2 {2}\S+Z {2}alice scores 0\.9 \(accuracy 0\.9, credibility 0\.9\) {2}by demo$/),
      expect.stringMatching(/^ {2}3 {2}\S+Z {2}PROPOSED → PENDING_QUORUM {2}contribution by demo$/),
      expect.stringMatching(/^ {2}4 {2}\S+Z {2}bob scores 0\.95 /),
      expect.stringMatching(/^ {2}5 {2}\S+Z {2}PENDING_QUORUM → RATIFIED \(match\) {2}contribution by demo$/),
      expect.stringMatching(/^ {2}6 {2}RATIFIED \(match\) {2}score 0\.9250, conflict 0\.0500$/),
    ])
  })

  test('two who do not agree end in a conflict that is explained, and a person can settle', async () => {
    const { id } = await createSession()
    await contribute(id, 'alice', '0.95')
    expect(await contribute(id, 'bob', '0.05')).toMatchObject({ state: 'IN_CONFLICT' })
    await expect
      .poll(async () => (await runCommand(['consensus', 'dissent', id], analyst)).stdout, waitOptions)
      .toContain('alice')
    expect((await runJsonCommand(['consensus', 'dissent', '--open'], analyst)).items.length).toBeGreaterThan(0)
    const words = ['consensus', 'attest', id, '--decision', 'non_match', '--rationale', 'different birthplaces']
    expect(await runJsonCommand(words, analyst)).toMatchObject({ state: 'RATIFIED', decision: 'non_match' })
    expect((await runCommand(words, analyst)).exit).toBe(3)
  })

  test('a repeat with the same idempotency key finds the same session', async () => {
    const [first, second] = [
      await createSession('--idempotency-key', 'k1'),
      await createSession('--idempotency-key', 'k1'),
    ]
    expect(second.id).toBe(first.id)
  })

  test('a stale --if-version is refused, and a cancelled session takes no more', async () => {
    const { id } = await createSession()
    await contribute(id, 'alice', '0.9')
    const stale = await runCommand(['consensus', 'cancel', id, '--if-version', '1'], { env })
    expect(stale.exit).toBe(3)
    expect(await runJsonCommand(['consensus', 'cancel', id], { env })).toMatchObject({ state: 'WITHDRAWN' })
    expect((await runCommand(['consensus', 'resolve', id], analyst)).exit).toBe(3)
  })

  test('a value out of range names its field, before anything is sent', async () => {
    const words = ['consensus', 'create', '--lens', 'a', '--lens-version', '1', '--m', '3', '--n', '2']
    const ended = await runCommand(words, analyst)
    expect(ended.exit).toBe(2)
    expect(ended.stderr).toContain('policy.m')
  })

  test('a bad token is refused and never echoed; an unknown session is a plain failure', async () => {
    const bad = await runCommand(['consensus', 'list'], { env: { ...env, PLATFORM_TOKEN: 'secret-token-of-mine' } })
    expect(bad.exit).toBe(3)
    expect(bad.stdout + bad.stderr).not.toContain('secret-token-of-mine')
    expect((await runCommand(['consensus', 'get', 'ses_none'], analyst)).exit).toBe(1)
  })

  test('the same over a URL, and a port where nobody listens is not reachable', async () => {
    const { items } = await runJsonCommand(['status'], { env })
    expect(items.map(({ state }: { state: string }) => state)).toEqual(['ok', 'ok', 'ok'])
    for (const { role, listens } of items) {
      const shown = await runJsonCommand(['status', '--url', listens[0]], { env })
      expect(shown.items).toMatchObject([{ role, state: 'ok', listens }])
      expect(new URL(listens[0]).port).not.toBe('0')
      const people = await runCommand(['status'], { env })
      expect(people.stdout).toContain(listens[0])
    }
    const { items: sessions } = await runJsonCommand(['consensus', 'list', '--url', items[1].listens[0]], analyst)
    expect(sessions.length).toBeGreaterThan(0)
    expect((await runCommand(['status', '--url', 'http://127.0.0.1:1'], { env })).exit).toBe(4)
    const nobody = await runCommand(['consensus', 'list', '--url', 'http://127.0.0.1:1'], analyst)
    expect(nobody.exit).toBe(4)
    expect((await runCommand(['consensus', 'list', '--url', 'http://u:p@127.0.0.1:1'], analyst)).exit).toBe(2)
  })
})

test('a second process for the same roles is refused', async () => {
  const second = await runCommand(['serve', '--site', site])
  expect([second.exit, second.stderr.includes('runs already in another process')]).toEqual([3, true])
})

describe('evidence', () => {
  test('a block verifies on its own, and with the site’s public keys on a machine without a site', async () => {
    const file = await exportEvidence((await ratifySession()).id)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const keys = path.join(dir, 'keys.json')
    await runCommand(['keys', 'export', '--out', keys], { env })
    const unverified = await runCommand(['evidence', 'verify', file, '--json'])
    expect({ exit: unverified.exit, ...JSON.parse(unverified.stdout) }).toMatchObject({
      exit: 5,
      verdict: 'integrity_only',
      valid: false,
      faults: [],
      keys: 'own',
    })
    expect((await runCommand(['evidence', 'verify', file, '--unvouched'])).exit).toBe(0)
    expect(await runJsonCommand(['evidence', 'verify', file, '--keys', keys])).toMatchObject({
      valid: true,
      keys: 'given',
    })
    expect(await runJsonCommand(['evidence', 'verify', file], { env })).toMatchObject({ valid: true, keys: 'pinned' })
  })

  test('the lineage of a block is printed with it, and with the verdict on its file', async () => {
    const first = await ratifySession()
    const basis = 'ab'.repeat(32)
    const superseded = JSON.parse(readFileSync(await exportEvidence(first.id), 'utf8')).block_id
    const { id } = await createSession('--supersedes', first.id)
    await contribute(id, 'alice', '0.95')
    await contribute(id, 'bob', '0.05')
    const words = ['consensus', 'attest', id, '--decision', 'match', '--rationale', 'seen', '--parents', basis]
    expect(await runJsonCommand(words, analyst)).toMatchObject({ supersedes: first.id, rests_on: [basis] })
    const file = await exportEvidence(id)
    const shown = (await runCommand(['evidence', 'show', id], { env })).stdout
    expect(shown).toMatch(new RegExp(`^supersedes +${superseded}$`, 'm'))
    expect(shown).toMatch(new RegExp(`^rests_on +${basis}$`, 'm'))
    const verified = await runCommand(['evidence', 'verify', file], { env })
    expect(verified.exit).toBe(0)
    expect(verified.stdout).toMatch(new RegExp(`^supersedes +${superseded}$`, 'm'))
    const refused = await runCommand(
      [
        'consensus',
        'create',
        '--lens',
        'person',
        '--lens-version',
        '1',
        '--m',
        '1',
        '--n',
        '1',
        '--supersedes',
        'ses_none',
      ],
      analyst,
    )
    expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining('no session ses_none to supersede') })
  })

  test('a changed score, a changed decision and foreign keys are each found', async () => {
    const file = await exportEvidence((await ratifySession()).id)
    const block = readFileSync(file, 'utf8')
    const [changed, keys] = [path.join(dir, 'changed.json'), path.join(dir, 'changed-keys.json')]
    await runCommand(['keys', 'export', '--out', keys], { env })
    for (const [from, to] of [
      ['"pair_score":0.9,', '"pair_score":0.8,'],
      ['"decision":"match"', '"decision":"non_match"'],
    ] as const) {
      writeFileSync(changed, block.replace(from, to))
      for (const words of [[], ['--unvouched'], ['--keys', keys]])
        expect((await runCommand(['evidence', 'verify', changed, ...words], { env })).exit).toBe(5)
    }
    const other = path.join(dir, 'other')
    await runJsonCommand(['init', '--site', other])
    const foreign = path.join(dir, 'foreign.json')
    await runCommand(['keys', 'export', '--site', other, '--out', foreign])
    const ended = await runCommand(['evidence', 'verify', file, '--keys', foreign])
    expect(ended.exit).toBe(5)
    expect(ended.stdout).toContain('no trusted key has signed it')
  })
})

describe('audit and store', () => {
  test('records are listed, exported whole, and verified with the site and without', async () => {
    const { items } = await runJsonCommand(['audit', 'list', '--action', 'consensus.session.create'], { env })
    expect(items[0].event).toMatchObject({ subject: 'demo', outcome: 'done' })
    const lines = (await runCommand(['audit', 'export', '--role', 'consensus'], { env })).stdout
    const [file, keys] = [path.join(dir, 'audit.jsonl'), path.join(dir, 'audit-keys.json')]
    await runCommand(['keys', 'export', '--out', keys], { env })
    writeFileSync(file, lines)
    expect((await runJsonCommand(['audit', 'verify', file, '--keys', keys])).whole).toBe(true)
    expect(await runCommand(['audit', 'verify', file])).toMatchObject({
      exit: 5,
      stdout: expect.stringContaining('name them with --keys'),
    })
    writeFileSync(file, lines.replace('"subject":"demo"', '"subject":"eve"'))
    expect((await runCommand(['audit', 'verify', file, '--keys', keys])).exit).toBe(5)
    writeFileSync(file, lines.split('\n').toSpliced(2, 1).join('\n'))
    expect((await runCommand(['audit', 'verify', file, '--keys', keys])).stdout).toContain('missing')
    expect((await runJsonCommand(['audit', 'verify'], { env })).whole).toBe(true)
    const cef = await runCommand(['audit', 'export', '--format', 'cef'], { env })
    expect(cef.stdout).toMatch(/^CEF:0\|platform\|platform\|[\d.]+\|consensus\.session\.create\|/m)
  })

  test('a backup of the running site is sound, and comes back once it is stopped', async () => {
    const ratified = await ratifySession()
    const copy = path.join(dir, 'backup')
    await runJsonCommand(['store', 'backup', copy], { env })
    expect(statSync(path.join(copy, 'consensus.db')).mode & 0o777).toBe(0o600)
    expect((await runJsonCommand(['store', 'check'], { env })).sound).toBe(true)
    const later = await ratifySession()
    const whileRunning = await runCommand(['store', 'restore', copy, '--yes'], { env })
    expect([whileRunning.exit, whileRunning.stderr.includes('stop the site first')]).toEqual([3, true])

    await running.stop()
    expect((await runCommand(['store', 'restore', copy], { env })).exit).toBe(3)
    const restored = await runJsonCommand(['store', 'restore', copy, '--yes'], { env })
    expect(restored.kept.flatMap((before: string) => readdirSync(before))).toContain('consensus.db')
    running = await serveSite(site)
    expect(await runJsonCommand(['consensus', 'get', ratified.id], { env })).toMatchObject({ state: 'RATIFIED' })
    expect((await runCommand(['consensus', 'get', later.id], { env })).exit).toBe(1)
  })

  test('a changed backup is refused, and nothing is touched', async () => {
    const copy = path.join(dir, 'altered')
    await runJsonCommand(['store', 'backup', copy], { env })
    const file = path.join(copy, 'consensus.db')
    const bytes = readFileSync(file)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    writeFileSync(file, bytes)
    await running.stop()
    const ended = await runCommand(['store', 'restore', copy, '--yes'], { env })
    running = await serveSite(site)
    expect(ended.exit).toBe(5)
    expect(ended.stderr).toContain('does not match its digest in the manifest')
  })

  test('the doctor knows the ports of a running site as its own', async () => {
    expect((await runJsonCommand(['doctor'], { env })).healthy).toBe(true)
  })
})

describe('a list', () => {
  const list = (...words: string[]) => runCommand(['consensus', 'list', '--lens', 'many', ...words], analyst)
  beforeAll(async () => {
    for (let count = 0; count < 53; count++)
      await runJsonCommand(
        ['consensus', 'create', '--lens', 'many', '--lens-version', '1', '--m', '1', '--n', '1'],
        analyst,
      )
  })

  test('says how many there are and how to continue, on stderr', async () => {
    const first = await list()
    expect(first.stdout.trimEnd().split('\n')).toHaveLength(51)
    const [, cursor = ''] = /^50 of 53; next page: --cursor (\S+)$/m.exec(first.stderr) ?? []
    const rest = await list('--cursor', cursor)
    expect(rest.stdout.trimEnd().split('\n')).toHaveLength(4)
    expect(rest.stderr).toContain('3 of 53')
    expect((await list('--all')).stderr).toContain('53 of 53')
    expect(await list('--all', '--limit', '5')).toMatchObject({ exit: 2 })
  })

  test('carries total and cursor as JSON', async () => {
    const { items, total, total_is, next_cursor } = JSON.parse((await list('--limit', '2', '--json')).stdout) as Json
    expect([items.length, total, total_is]).toEqual([2, 53, 'exact'])
    const next = JSON.parse((await list('--cursor', String(next_cursor), '--limit', '100', '--json')).stdout) as Json
    expect([next.items.length, next.total, 'next_cursor' in next]).toEqual([51, 53, false])
  })

  test('of audit records holds those of every role, newest first, and continues where it ended', async () => {
    const audit = (...words: string[]) => runJsonCommand(['audit', 'list', ...words], { env })
    const whole = await audit('--all')
    const seen = whole.items as { role: string; seq: number; event?: { at: string } }[]
    expect(new Set(seen.map(({ role }) => role))).toEqual(new Set(['site', 'consensus']))
    const times = seen.flatMap(({ event }) => event?.at ?? [])
    expect(times).toEqual(times.toSorted().reverse())
    const first = await audit('--limit', '5')
    const second = await audit('--limit', '5', '--cursor', first.next_cursor)
    const places = [...first.items, ...second.items].map(({ role, seq }: Json) => `${role} ${seq}`)
    expect(new Set(places).size).toBe(10)
    expect((await runCommand(['audit', 'list', '--limit', '1'], { env })).stdout).toMatch(/^ROLE +SEQ +AT/)
    expect(await runCommand(['audit', 'list', '--cursor', 'x'], { env })).toMatchObject({ exit: 2 })
  })

  test('filters by what its options name', async () => {
    expect((await list('--awaiting', 'alice')).stderr).toContain('of ')
    const none = await list('--correlation-id', 'match-none', '--json')
    expect(JSON.parse(none.stdout)).toMatchObject({ items: [], total: 0 })
  })
})
