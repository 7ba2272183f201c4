// `peers set` changes settings of a pinned peer in one step: the keys stay, and a running site refuses nothing meanwhile.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { updatePinnedPeer } from '../../daemon/boot/identity/pinned-peers.ts'
import { checkContributors } from '../../daemon/offline/doctor/checks/contributors.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { get } from '../../daemon/roles/consensus/session/get.ts'
import { createScratchFolder, type Json, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { type PinnedSitePair, startPinnedSitePair } from '../support/site/pinned-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const { dir, remove } = createScratchFolder('peer-settings')
let world: PinnedSitePair
beforeAll(async () => {
  world = await startPinnedSitePair()
})
afterAll(async () => {
  await world.end()
  remove()
})

const at = () => ({ env: { PLATFORM_SITE: path.dirname(world.alpha.folder.profile) } })
const set = (...words: string[]) => runCommand(['peers', 'set', 'bravo', ...words], at())
const setJson = (...words: string[]) => runJsonCommand(['peers', 'set', 'bravo', ...words], at())
const show = () => runJsonCommand(['peers', 'show', 'bravo'], at())

async function listChanges(): Promise<Json[]> {
  const token = await world.alpha.token({ subject: 'carl', roles: ['auditor'] })
  const { json } = await world.alpha.call('site', 'GET', '/api/v2/audit?action=site.peer.set', undefined, { token })
  return (json as Json).items
}

/** A session of bravo, whose invitation has been carried to alpha. */
async function invite(level: string): Promise<string> {
  const operator = await world.bravo.as({ roles: ['operator'] })
  const classification = { level, releasable_to: ['tenant-a', 'tenant-b'] }
  const input = { lens_id: 'lens-1', lens_version: '1', policy: { m: 1, n: 1 }, classification, invite: ['alpha'] }
  const { id } = await operator.ok(create, input)
  await waitUntil(() => world.listReady().length === 2)
  world.carry()
  return id
}

async function waitForSession(id: string): Promise<void> {
  const operator = await world.alpha.as({ roles: ['operator'] })
  await waitUntil(async () => (await operator.call(get, { id })).status === 200)
}

describe('at a running site', () => {
  test('what arrives is judged by the ceiling of that time, without a restart, and the keys stay', async () => {
    const before = await show()
    const lowered = await setJson('--ceiling', 'RESTRICTED')
    expect(lowered).toEqual({ ...before, ceiling: { ...before.ceiling, level: 'RESTRICTED' } })
    await invite('SECRET')
    await waitUntil(() => world.listQuarantined().some(({ reason }) => reason === 'LABEL_DENIED'))
    await setJson('--ceiling', 'SECRET')
    const accepted = await invite('SECRET')
    await waitForSession(accepted)
    expect(world.listQuarantined()).toHaveLength(1)
    expect(await show()).toEqual(before)
  })

  test('none of the messages that arrive while settings change is refused for lack of a peer', async () => {
    const refused = world.listQuarantined().length
    const sessions: string[] = []
    for (let count = 0; count < 12; count += 1) {
      const [id, changed] = await Promise.all([invite('RESTRICTED'), set('--fresh-days', String(10 + count))])
      sessions.push(id)
      expect(changed.exit, changed.stderr).toBe(0)
    }
    for (const id of sessions) await waitForSession(id)
    expect(world.listQuarantined()).toHaveLength(refused)
    expect((await show()).not_after_days).toBe(21)
  })

  test('each change is in the audit log with what it replaced; a repeat is not a change', async () => {
    const [peer, known] = [await show(), (await listChanges()).length]
    const again = await set('--ceiling', peer.ceiling.level)
    expect([again.exit, again.stderr]).toEqual([0, 'the settings are as they were\n'])
    expect(await listChanges()).toHaveLength(known)
    await setJson('--keep-days', '90')
    expect(await listChanges()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          event: expect.objectContaining({
            target: 'bravo',
            detail: { before: { keep_days: 30 }, after: { keep_days: 90 } },
          }),
        }),
      ]),
    )
  })
})

test('takes every setting that an enrolment takes, and --reset takes back those with a default', async () => {
  const before = await show()
  const map = { NATION: { levels: { OFFEN: 'UNCLASSIFIED' }, categories: {} } }
  const file = path.join(dir, 'map.json')
  writeFileSync(file, JSON.stringify(map))
  const changed = await setJson(
    ...['--tenant', 'tenant-c', '--ceiling', 'CONFIDENTIAL', '--categories', 'NUC,NOVA', '--label-map', file],
    ...['--releasable-names', 'NOR', '--root-threshold', '1', '--fresh-days', '90', '--keep-days', '120'],
    ...['--inventory-interval', '1d'],
  )
  expect(changed).toEqual({
    ...before,
    tenant_id: 'tenant-c',
    ceiling: { ...before.ceiling, level: 'CONFIDENTIAL', categories: ['NOVA', 'NUC'] },
    label_map: map,
    ...{ releasable_names: ['NOR'], root_threshold: 1, not_after_days: 90, keep_days: 120 },
    inventory_interval_s: 86_400,
  })
  const kept = await setJson('--ceiling', 'SECRET')
  expect(kept.ceiling.categories).toEqual(['NOVA', 'NUC'])
  const words = 'categories,releasable-names,label-map,root-threshold,fresh-days,inventory-interval,keep-days'
  const { root_threshold: _, ...rest } = before
  const back = await setJson('--reset', words, '--tenant', before.tenant_id, '--ceiling', before.ceiling.level)
  expect(back).toEqual({ ...rest, not_after_days: 7, keep_days: 30, inventory_interval_s: 300 })
})

test('says which contributor of this site has the name of the peer’s tenant, as does the doctor', async () => {
  const token = await world.alpha.token({ subject: 'carl', roles: ['admin'] })
  const path = '/api/v2/consensus/contributor/namesake'
  await world.alpha.call('consensus', 'PUT', path, { signer_keys: ['namesake-1'] }, { token })
  const before = (await show()).tenant_id
  expect((await set('--keep-days', '31')).stderr).toBe('')
  const changed = await set('--tenant', 'namesake')
  expect([changed.exit, changed.stderr]).toEqual([
    0,
    expect.stringContaining('namesake is a contributor of this site too'),
  ])
  const { folder } = world.alpha
  expect(await checkContributors({ folder, env: {}, now: Date.now() })).toMatchObject([
    { state: 'problem', remedy: expect.stringContaining('platform consensus contributor remove namesake') },
  ])
  await world.alpha.call('consensus', 'DELETE', path, undefined, { token })
  expect(await checkContributors({ folder, env: {}, now: Date.now() })).toEqual([])
  expect((await set('--tenant', before, '--reset', 'keep-days')).stderr).toBe('')
})

test('says which contributor of the profile has the name of the peer’s tenant', async () => {
  const [{ folder }, peer] = [world.alpha, await show()]
  const profile = readFileSync(folder.profile, 'utf8')
  writeFileSync(
    folder.profile,
    JSON.stringify({
      ...parse(profile),
      consensus: {
        contributors: { [peer.tenant_id]: { signer_keys: ['k'] }, other: { signer_keys: ['k'], tenant_id: 'x' } },
      },
    }),
  )
  const changed = await set('--ceiling', peer.ceiling.level)
  writeFileSync(folder.profile, profile)
  expect([changed.exit, changed.stderr]).toEqual([
    0,
    expect.stringContaining(`rename consensus.contributors.${peer.tenant_id}`),
  ])
})

test.each<[string, string[], number, string]>([
  ['no setting', [], 2, 'no setting is given'],
  ['a level of no policy', ['--ceiling', 'COSMIC'], 2, 'the levels are'],
  ['a threshold that the pinned keys cannot reach', ['--threshold', '2'], 2, 'no message would pass'],
  ['a setting that is also reset', ['--keep-days', '9', '--reset', 'keep-days'], 2, '--reset names it'],
  ['a setting without a default', ['--reset', 'ceiling'], 2, 'must be one of categories'],
  ['no days', ['--fresh-days', '0'], 2, 'must be a whole number'],
])('refuses %s, and changes nothing', async (_, words, exit, message) => {
  const file = path.join(world.alpha.folder.peers, 'bravo.json')
  const before = readFileSync(file, 'utf8')
  expect(await set(...words)).toMatchObject({ exit, stdout: '', stderr: expect.stringContaining(message) })
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('names the peer that is not pinned', async () => {
  const ended = await runCommand(['peers', 'set', 'charlie', '--ceiling', 'SECRET'], at())
  expect(ended).toMatchObject({ exit: 1, stderr: expect.stringContaining('the peer charlie is not pinned') })
})

test('tenant and thresholds of a peer with a key set are the peer’s own to change', async () => {
  await updatePinnedPeer(world.alpha.folder, 'bravo', async (peer) => ({
    ...peer,
    key_set: { version: 1, digest: 'a'.repeat(96), created: peer.enrolled },
  }))
  for (const words of [
    ['--tenant', 'other'],
    ['--threshold', '1'],
    ['--reset', 'root-threshold'],
  ]) {
    expect(await set(...words)).toMatchObject({ exit: 3, stderr: expect.stringContaining('the key set of bravo sets') })
  }
  expect((await set('--ceiling', 'RESTRICTED')).exit).toBe(0)
})
