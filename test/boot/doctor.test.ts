// The doctor finds each faulty condition of a channel, really made here, and names its repair.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { listKeys } from '../../adapters/keys/jose/key-lifecycle.ts'
import { readWrappingKeys } from '../../adapters/keys/jose/wrapping-keys.ts'
import { sqliteJournal } from '../../adapters/store/sqlite/journal/journal.ts'
import { foldersOf } from '../../adapters/transport/filedrop/files/channel-folders.ts'
import type { AuditEvent } from '../../daemon/kernel/audit/audit-chain.ts'
import type { Peer } from '../../daemon/kernel/identity/peer.ts'
import type { Journal } from '../../daemon/kernel/messaging/journal.ts'
import { dataKeys } from '../../daemon/kernel/secret/stored-data-key.ts'
import { withSiteDatabase } from '../../daemon/offline/audit/operator-action.ts'
import { examineSite } from '../../daemon/offline/doctor/examine-site.ts'
import type { DoctorFinding } from '../../daemon/offline/doctor/finding.ts'
import { rotateSiteKey } from '../../daemon/offline/keys/site-keys.ts'
import { resolveProfile } from '../../daemon/offline/site/site-profile.ts'
import { findFolderProblems } from '../../daemon/runtime/resolution/arrivals/open-watched-folders.ts'
import { buildArrival, buildSealedMessage } from '../conformance/journal-samples.ts'
import { createPeerSite } from '../roles/consensus/peer-site.ts'
import { noon } from '../support/clock/simulated-clock.ts'
import { createTestSite, startTestSite, type TestSite, type TestSiteOptions } from '../support/site/test-site.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const bravo = await createPeerSite('bravo', 'tenant-b')
afterAll(() => bravo.remove())

let world: TestSite
afterEach(() => world.end())

async function siteWith(peer: Partial<Peer> = {}, options: TestSiteOptions = {}): Promise<void> {
  world = await createTestSite({ ...options, peers: [{ ...bravo.pinned, ...peer }] })
}

const examineAt = (ms: number, env: Record<string, string> = {}) =>
  examineSite(world.folder, env, noon + ms, () => undefined)

/** The faults that this check finds. */
async function findFaults(check: string, ms = 0, env: Record<string, string> = {}): Promise<DoctorFinding[]> {
  return (await examineAt(ms, env)).filter((finding) => finding.check === check && finding.state !== 'ok')
}

const matchFinding = (state: DoctorFinding['state'], detail: string | RegExp, remedy: string | RegExp) =>
  expect.objectContaining({ state, detail: expect.stringMatching(detail), remedy: expect.stringMatching(remedy) })

const changeJournal = (act: (journal: Journal) => Promise<unknown>) =>
  withSiteDatabase(world.folder, {}, async (file, audit) => void (await act(sqliteJournal(file, audit))))
const folders = () => foldersOf(world.folder.filedrop, 'bravo')

test('a sound site with a channel has nothing wrong', async () => {
  await siteWith()
  expect((await examineAt(0)).filter(({ state }) => state !== 'ok')).toEqual([])
  expect((await examineAt(0)).map(({ check }) => check)).toEqual(
    expect.arrayContaining(['disk', 'traffic', 'labels', 'watchers']),
  )
})

test('two folders in which records arrive that are one directory are named, and refuse the start', async () => {
  const drop = fs.mkdtempSync(path.join(tmpdir(), 'drop-'))
  const intake = { name: 'desk', path: drop, node_id: 'desk', lens: 'persons' }
  const arrival_folders = [intake, { ...intake, name: 'other', path: `${drop}/./` }]
  await siteWith({}, { profile: { platform: { roles: ['site', 'resolution'] }, resolution: { arrival_folders } } })
  const [finding, ...others] = await findFaults('arrivals')
  expect([finding?.state, finding?.detail, others]).toEqual([
    'problem',
    expect.stringContaining(`the folder other: ${drop}/./ is the directory of the folder desk`),
    [],
  ])
  expect(findFolderProblems(resolveProfile(world.folder, {}))).toMatchObject([
    { path: 'resolution.arrival_folders.1.path', message: expect.stringContaining('is the directory of') },
  ])
  fs.rmSync(drop, { recursive: true })
})

describe('rulings on matches', () => {
  const withRoles = (roles: readonly string[], sinks: readonly object[] = []) =>
    siteWith({}, { profile: { platform: { roles }, consensus: { sinks } } })
  const findRulings = async () => (await examineAt(0)).filter(({ check }) => check === 'rulings')

  test('reach the role resolution without a sink, which without that role is a fault', async () => {
    await withRoles(['site', 'consensus', 'resolution'])
    expect(await findRulings()).toEqual([
      expect.objectContaining({ state: 'ok', detail: expect.stringMatching(/passes/) }),
    ])
    await world.end()
    await withRoles(['site', 'consensus'], [{ name: 'matches', kind: 'resolution' }])
    expect(await findRulings()).toEqual([matchFinding('warning', /names matches/, /add resolution to platform\.roles/)])
  })

  test('do not exist without the role consensus', async () => {
    await withRoles(['site', 'resolution'])
    expect(await findRulings()).toEqual([expect.objectContaining({ detail: expect.stringMatching(/no consensus/) })])
  })
})

describe('the clock', () => {
  const event = (when: number): AuditEvent => ({
    ...{ at: new Date(when).toISOString(), action: 'test.step', outcome: 'done', tenant_id: 't', subject: 's' },
    ...{ target: 'x', trace_id: '0', detail: {} },
  })

  test('behind a key of the site', async () => {
    await siteWith()
    expect(await findFaults('clock', -hour)).toEqual([
      matchFinding('problem', 'a key of this site was created later', 'set the clock'),
    ])
  })

  test('behind the newest audit record', async () => {
    await siteWith()
    await withSiteDatabase(world.folder, {}, (_file, audit) => audit.append([event(noon + hour)]))
    expect(await findFaults('clock', 30 * minute)).toEqual([
      matchFinding('problem', /site wrote an audit record later, at .*13:00/, 'set'),
    ])
    expect(await findFaults('clock', hour)).toEqual([])
  })

  test.each<[string, (journal: Journal) => Promise<unknown>]>([
    ['message that came', (journal) => journal.receive('filedrop/bravo/alpha', [buildArrival(1, { at: noon + hour })])],
    [
      'inventory',
      (journal) =>
        journal.append('filedrop/alpha/bravo', [buildSealedMessage(1, { kind: 'inventory', at: noon + hour })]),
    ],
  ])('behind the last %s', async (_, write) => {
    await siteWith()
    await changeJournal(write)
    expect(await findFaults('clock', 30 * minute)).toEqual([
      matchFinding('problem', 'a message was received or sent later', 'set the clock'),
    ])
  })

  test('far ahead of all that the site has written', async () => {
    await siteWith()
    expect(await findFaults('clock', 29 * day)).toEqual([])
    expect(await findFaults('clock', 40 * day)).toEqual([
      matchFinding('warning', '40 days ago.*or the clock jumped ahead', 'compare'),
    ])
  })

  test('that is not synchronised, by the word of the machine’s time service', async () => {
    await siteWith()
    const bin = path.join(world.folder.run, '..', 'bin')
    fs.mkdirSync(bin)
    const says = (word: string) =>
      fs.writeFileSync(path.join(bin, 'timedatectl'), `#!/bin/sh\n[ "$1" = show ] && echo ${word}\n`, { mode: 0o700 })
    const env = { PATH: `${bin}:/usr/bin:/bin` }
    says('no')
    expect(await findFaults('clock', 0, env)).toEqual([matchFinding('warning', 'is not synchronised', 'trusted_clock')])
    says('yes')
    expect(await findFaults('clock', 0, env)).toEqual([])
    says('no')
    const profile = fs.readFileSync(world.folder.profile, 'utf8')
    fs.writeFileSync(world.folder.profile, `${profile}\nfiledrop: { trusted_clock: false }\n`)
    expect(await findFaults('clock', 0, env)).toEqual([])
  })
})

describe('a channel', () => {
  test('without its CHANNEL.json, or with one that is damaged', async () => {
    await siteWith()
    const file = path.join(folders().home, 'CHANNEL.json')
    const text = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, text.slice(0, 20))
    expect(await findFaults('channels')).toEqual([
      matchFinding('problem', 'bravo: CHANNEL.json is damaged', folders().home),
    ])
    fs.rmSync(file)
    expect(await findFaults('channels')).toEqual([
      matchFinding('problem', 'bravo: CHANNEL.json is missing', folders().home),
    ])
    expect(fs.existsSync(file)).toBe(false)
  })

  test('that is frozen, with the reason', async () => {
    await siteWith()
    await changeJournal((journal) =>
      journal.setState('filedrop/bravo/alpha', 'frozen', 'two statements under number 7'),
    )
    expect(await findFaults('traffic')).toEqual([
      matchFinding('problem', 'from bravo is frozen: two statements', 'operators of bravo'),
    ])
    await changeJournal((journal) => journal.setState('filedrop/bravo/alpha', 'open', ''))
    await changeJournal((journal) => journal.setState('filedrop/alpha/bravo', 'frozen', 'the journal is older'))
    expect(await findFaults('traffic')).toEqual([
      matchFinding('problem', 'to bravo is frozen: the journal is older', 'epoch bravo'),
    ])
  })

  test('from which no inventory comes, while the site runs', async () => {
    await siteWith({ inventory_interval_s: 600 })
    expect(await findFaults('traffic', hour)).toEqual([])
    await world.end()
    world = await startTestSite({ peers: [{ ...bravo.pinned, inventory_interval_s: 600 }] })
    expect(await findFaults('traffic', 30 * minute)).toEqual([])
    expect(await findFaults('traffic', 31 * minute)).toEqual([
      matchFinding('warning', 'bravo is stale: no inventory', 'the carrier'),
    ])
  })

  test('a peer whose messages no carrier takes', async () => {
    await siteWith()
    const sent = buildSealedMessage(1, { at: noon })
    await changeJournal(async (journal) => {
      await journal.append('filedrop/alpha/bravo', [sent, buildSealedMessage(2, { at: noon + hour })])
      await journal.mark('filedrop/alpha/bravo', [sent], 'PUBLISHED', noon)
    })
    const file = path.join(folders().ready, '00000001-0000000000000001.env.json')
    fs.writeFileSync(file, '{}', { mode: 0o600 })
    expect(await findFaults('traffic', 15 * minute)).toEqual([])
    expect(await findFaults('traffic', 16 * minute)).toEqual([
      matchFinding(
        'warning',
        /^bravo: no carrier takes the ready messages \(2 messages, the first since .*12:00/,
        folders().ready,
      ),
    ])
    fs.rmSync(file)
    expect(await findFaults('traffic', hour)).toEqual([
      matchFinding('warning', 'bravo: not made ready yet .1 message,', 'start the site'),
    ])
  })

  test('a peer whose quarantine is nearly full, and full', async () => {
    await siteWith({}, { profile: { filedrop: { quarantine_max_bytes: 1_048_576 } } })
    const fill = (bytes: number) =>
      fs.writeFileSync(path.join(folders().quarantine, 'x.file'), 'x'.repeat(bytes), { mode: 0o600 })
    fill(800_000)
    expect(await findFaults('channels')).toEqual([
      matchFinding('warning', '1 item in quarantine', 'quarantine list --peer bravo'),
    ])
    fill(900_000)
    expect(await findFaults('channels')).toEqual([
      matchFinding('warning', 'nearly full', 'quarantine list --peer bravo'),
    ])
    fill(1_100_000)
    expect(await findFaults('channels')).toEqual([
      matchFinding('problem', 'the quarantine is full', 'release, dismiss or purge'),
    ])
  })
})

test('items of a peer that is no longer pinned, with the command that closes them', async () => {
  await siteWith()
  const left = path.join(world.folder.filedrop, 'former/in/quarantine')
  fs.mkdirSync(left, { recursive: true })
  fs.writeFileSync(path.join(left, 'x.file'), 'x', { mode: 0o600 })
  expect(await findFaults('channels')).toEqual([
    matchFinding('warning', 'former, which is no longer pinned: 1 item in quarantine', 'quarantine dismiss'),
  ])
})

test('a key of its own near its end, unless it was replaced in time', async () => {
  await siteWith()
  const kid = () =>
    listKeys(world.folder.keys)
      .filter(({ use }) => use === 'message')
      .at(-1)?.kid ?? ''
  const first = kid()
  await rotateSiteKey(world.folder, {}, first, { now: noon + 1_000 })
  // The old key ends with the overlap of two weeks; it has a successor.
  for (const later of [0, 15 * day]) expect(await findFaults('keys', later)).toEqual([])
  const not_after = new Date(noon + 40 * day).toISOString()
  await rotateSiteKey(world.folder, {}, kid(), { now: noon + 2_000, not_after })
  expect(await findFaults('keys')).toEqual([])
  expect(await findFaults('keys', 20 * day)).toContainEqual(
    matchFinding('warning', `${kid()} ends on 2026-04-11`, 'keys rotate'),
  )
  expect(await findFaults('keys', 41 * day)).toContainEqual(matchFinding('problem', `${kid()} ended on`, 'new key set'))
})

describe('the settings that a peer was enrolled with', () => {
  test('a key near its end, ended, or revoked', async () => {
    const keys = bravo.pinned.keys.map((key) => ({ ...key, not_after: new Date(noon + 40 * day).toISOString() }))
    await siteWith({ keys })
    expect(await findFaults('keys')).toEqual([])
    expect(await findFaults('keys', 20 * day)).toEqual([
      matchFinding('warning', 'bravo’s key .* ends on 2026-04-11', 'new keys'),
    ])
    expect(await findFaults('keys', 41 * day)).toEqual([matchFinding('problem', 'bravo’s key .* ended on', 'new keys')])
    await world.end()
    await siteWith({ keys: keys.map((key) => ({ ...key, status: 'revoked' as const })) })
    expect(await findFaults('keys')).toEqual([matchFinding('problem', 'bravo has no active message key', 'new keys')])
  })

  test('a key near its end that others replace in time is not reported, as long as enough signing keys go on', async () => {
    const not_after = new Date(noon + 10 * day).toISOString()
    const [first] = bravo.pinned.keys
    const ending = { ...first, kid: 'message-ending', not_after } as (typeof bravo.pinned.keys)[number]
    await siteWith({ keys: [...bravo.pinned.keys, ending] })
    expect(await findFaults('keys')).toEqual([])
    expect(await findFaults('keys', 11 * day)).toEqual([])
    await world.end()
    await siteWith({ keys: [...bravo.pinned.keys, ending], threshold: 2 })
    expect(await findFaults('keys')).toEqual([
      matchFinding('warning', 'bravo’s key message-ending ends on', 'peers update bravo'),
    ])
  })

  test('a ceiling, or a label map, that the profile’s policy does not have', async () => {
    await siteWith({ ceiling: { policy: 'SITE', level: 'COSMIC', categories: [], originator: 'tenant-a' } })
    expect(await findFaults('labels')).toEqual([
      matchFinding('problem', 'ceiling of bravo, SITE COSMIC, is not in the policy', 'peers set bravo --ceiling'),
    ])
    await world.end()
    await siteWith({ label_map: { NATION: { levels: { HIGH: 'COSMIC', LOW: 'UNCLASSIFIED' }, categories: {} } } })
    expect(await findFaults('labels')).toEqual([
      matchFinding('problem', 'label map of bravo maps to levels .*: COSMIC', 'peers set bravo --label-map'),
    ])
  })
})

describe('tools', () => {
  const withTools = (mcp_enabled: boolean, deployment_profile: string) =>
    siteWith({}, { profile: { platform: { deployment_profile }, consensus: { mcp_enabled } } })

  test('that a role does not offer in this profile, whatever is set', async () => {
    await withTools(true, 'customer_onprem')
    const finding = matchFinding(
      'warning',
      'consensus.mcp_enabled has no effect: .* single_cluster, multi_tenant_cloud alone, and this is customer_onprem',
      'remove consensus.mcp_enabled',
    )
    expect(await findFaults('profile')).toEqual([finding])
  })

  test('by a variable', async () => {
    await siteWith({}, { profile: { platform: { deployment_profile: 'customer_onprem' } } })
    expect(await findFaults('profile')).toEqual([])
    expect(await findFaults('profile', 0, { CONSENSUS_MCP_ENABLED: 'true' })).toHaveLength(1)
  })

  test('that are off, or offered here, are no fault', async () => {
    await withTools(false, 'customer_onprem')
    expect(await findFaults('profile')).toEqual([])
    await world.end()
    await withTools(true, 'single_cluster')
    expect(await findFaults('profile')).toEqual([])
  })
})

describe('the keys of stored secrets', () => {
  const storeDataKey = (collection: string, wrapping_key: string) =>
    world.store('resolution').create(dataKeys, `key_${collection}_${wrapping_key}`, {
      ...{ tenant_id: world.tenant, collection, created_ts: noon, wrapping_key, wrapped: 'A'.repeat(80) },
    })

  test('are there, or are named with what they protect', async () => {
    world = await startTestSite({ profile: { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0 } } })
    const [{ kid = '' } = {}] = readWrappingKeys(world.folder.keys)
    const secretFindings = async () => (await examineAt(0)).filter(({ check }) => check === 'secrets')
    expect(await secretFindings()).toEqual([])
    await storeDataKey('exchange', kid)
    expect(await secretFindings()).toEqual([
      { code: 'secrets.ok', check: 'secrets', state: 'ok', detail: 'the keys of the secrets of resolution are there' },
    ])
    const lost = 'secret-AAAAAAAAAAAAAAAA'
    await storeDataKey('exchange', lost)
    expect(await secretFindings()).toEqual([
      matchFinding(
        'problem',
        `secrets of resolution \\(exchange\\) .* ${lost} is missing`,
        `restore secrets/${lost}.json`,
      ),
    ])
    fs.rmSync(path.join(world.folder.keys, 'secrets'), { recursive: true })
    expect(await secretFindings()).toHaveLength(2)
  })
})
