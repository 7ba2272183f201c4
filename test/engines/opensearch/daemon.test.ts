// The packaged daemon with its documents in a real cluster: either is killed under load, and in the end all has happened once.
import * as fs from 'node:fs'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { AnyOperation } from '../../../daemon/kernel/operation/operation.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { carryParcels, formatChannelFolder } from '../../support/site/courier.ts'
import {
  copyPackagedFederation,
  createPackagedFederation,
  editProfile,
  type FederatedSite,
  type PackagedFederation,
} from '../../support/site/packaged-federation.ts'
import {
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  openPackagedSitePair,
  type PackagedSitePair,
} from '../../support/site/packaged-site-pair.ts'
import { Contributors, speakers } from './contributors.ts'

const test = whenPresent(opensearchRequirement)
/** A cluster takes half a minute to come back, and longer where much else is done. */
const waitOptions = { timeout: 90_000, interval: 200 }

let server: OpenSearch
let pattern: PackagedFederation
const worlds: PackagedFederation[] = []
beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  pattern = await createPackagedFederation('alpha', 'bravo')
  worlds.push(pattern)
  await server.start()
})
afterAll(async () => {
  for (const world of worlds) await world.end()
  await server?.end()
})

/** Two sites that know each other and do not run; bravo's documents are in the cluster under this name. */
async function createSites(name: string): Promise<PackagedSitePair> {
  const world = await copyPackagedFederation(pattern)
  worlds.push(world)
  const two = await openPackagedSitePair(world)
  editProfile(two.bravo, { search: { host: server.url, index_prefix: name, replicas: 0, timeout: 20 } })
  return two
}

test('the cluster is killed: 503 and when to come again, files wait, and then each is applied once', async () => {
  const two = await createSites('cluster')
  const { alpha, bravo, atAlpha, atBravo, toBravo, toAlpha } = two
  await alpha.start()
  const daemon = await bravo.start()
  const waitForQuestions = async (count: number) => {
    return await Promise.all(Array.from({ length: count }, () => openInvitedSession(atAlpha, 0.94)))
  }
  const pauses = () => daemon.log().split('"filedrop.intake.paused"').length - 1
  const incoming = () => findChannel(atBravo, 'alpha', 'in')
  const ids = await waitForQuestions(5)
  const load = new Contributors(atBravo)
  await vi.waitUntil(async () => {
    carryParcels(toBravo)
    return load.heard() > 40 && (await incoming()).received >= ids.length
  }, waitOptions)

  await server.kill()
  ids.push(...(await waitForQuestions(20)))
  // Their invitations cannot be delivered; the pause is logged once a minute.
  await vi.waitUntil(async () => {
    carryParcels(toBravo)
    return load.refused.length > 20 && pauses() > 0 && (await incoming()).backlog >= 20
  }, waitOptions)
  for (const { status, problem, retry_after_s } of load.refused) {
    expect([status, problem?.code]).toEqual([503, 'unavailable'])
    expect(retry_after_s).toBeGreaterThan(0)
  }
  const detail = expect.stringContaining('intake pauses: the document store cannot be used now')
  expect(await incoming()).toMatchObject({ state: 'open', quarantined: 0, detail })
  for (const role of ['site', 'consensus']) {
    const problem = { code: 'unavailable', detail: expect.stringContaining('the store is not ready: opensearch') }
    expect(await atBravo.call(findHealthOperation(role), {})).toMatchObject({ status: 503, problem })
  }
  expect(fs.readdirSync(formatChannelFolder(bravo, alpha, 'in', 'quarantine'))).toEqual([])
  const emissions = load.heard()

  await server.start()
  await vi.waitUntil(async () => load.heard() > emissions + 40 && (await incoming()).backlog === 0, waitOptions)
  await load.end()
  for (const id of ids) await contributeOpinion(atBravo, id, 'bob', 0.92)
  await vi.waitUntil(async () => {
    carryParcels(toBravo)
    carryParcels(toAlpha)
    return (await areRatified(atAlpha, ids)) && (await areRatified(atBravo, ids))
  }, waitOptions)
  await vi.waitUntil(async () => {
    carryParcels(toBravo)
    const [{ sent }, { received, backlog, detail: trouble }] = [
      await findChannel(atAlpha, 'bravo', 'out'),
      await incoming(),
    ]
    return received === sent && backlog === 0 && trouble === ''
  }, waitOptions)
  expect(await incoming()).toMatchObject({ gaps: 0, quarantined: 0, duplicates: 0 })
  const events = await readTargets(bravo)
  expect(events('filedrop.message.applied').length).toBeGreaterThanOrEqual(2 * ids.length)
  expect(new Set(events('filedrop.message.applied')).size).toBe(events('filedrop.message.applied').length)
  for (const action of ['consensus.federation.invite', 'consensus.federation.result']) {
    expect(events(action).toSorted(), action).toEqual(ids.toSorted())
  }
  for (const id of ids) expect(await listSpeakers(atBravo, id)).toEqual(['bravo'])
  await expectContributionsCounted(load, two, 'cluster', ids)
}, 300_000)

test('the daemon is killed twice: acknowledged writes and their emissions are there once', async () => {
  const two = await createSites('daemon')
  const { bravo, atBravo } = two
  let daemon = await bravo.start()
  const load = new Contributors(atBravo)
  const more = async () => {
    const emissions = load.heard()
    await vi.waitUntil(() => load.heard() > emissions + 60, waitOptions)
  }
  for (const death of [1, 2]) {
    await more()
    await daemon.kill()
    await vi.waitUntil(() => load.unanswered >= death, waitOptions)
    daemon = await bravo.start()
  }
  await more()
  await load.end()
  await expectContributionsCounted(load, two, 'daemon', [])
}, 300_000)

/** Each word of each speaker counts once, in the documents, in the record, and in what the cluster has of that. */
async function expectContributionsCounted(
  load: Contributors,
  { bravo, atBravo }: PackagedSitePair,
  name: string,
  extra_ids: string[],
): Promise<void> {
  const { opened, answered } = load
  expect(new Set(opened).size).toBe(opened.length)
  expect(answered.length).toBe(opened.length * speakers.length)
  await vi.waitUntil(() => areRatified(atBravo, opened), waitOptions)
  for (const id of opened) expect(await listSpeakers(atBravo, id)).toEqual(speakers)
  const events = await readTargets(bravo)
  for (const action of ['consensus.session.create', 'consensus.evidence.create']) {
    expect(new Set(events(action)).size, action).toBe(events(action).length)
  }
  expect(events('consensus.session.create').toSorted()).toEqual(opened.toSorted())
  expect(events('consensus.evidence.create')).toHaveLength(opened.length)
  const contributed = [...opened.flatMap((id) => speakers.map(() => id)), ...extra_ids]
  expect(events('consensus.session.contribute').toSorted()).toEqual(contributed.toSorted())
  expect(await bravo.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
  expect(await bravo.runJson(['store', 'check'])).toMatchObject({ sound: true })
  await waitUntilCopied(bravo, name)
}

/** One after the other: on a slow machine there are more sessions than a caller may have requests in progress. */
async function areRatified(person: CheckedClient, ids: readonly string[]): Promise<boolean> {
  for (const id of ids) {
    const session = await findSession(person, id)
    if (session?.state !== 'RATIFIED' || session.undelivered > 0) return false
  }
  return true
}

async function listSpeakers(person: CheckedClient, id: string): Promise<string[]> {
  return (await person.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id).toSorted()
}

type AuditRecordLine = { writer: string; seq: number; event?: { action: string; target: string } }

async function readAuditRecords(site: FederatedSite): Promise<AuditRecordLine[]> {
  const { stdout } = await site.run(['audit', 'export'])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event !== undefined)
}

/** The targets of an action, in the order of the record. */
async function readTargets(site: FederatedSite): Promise<(action: string) => string[]> {
  const all = await readAuditRecords(site)
  return (action) => all.flatMap(({ event }) => (event?.action === action ? [event.target] : []))
}

/** The cluster holds what the chains of both roles hold by now, and nothing beside. */
async function waitUntilCopied(site: FederatedSite, name: string): Promise<void> {
  const here = Map.groupBy(await readAuditRecords(site), ({ writer }) => writer)
  expect(here.size).toBe(2)
  for (const [writer, chain] of here) {
    expect(chain.map(({ seq }) => seq)).toEqual(chain.map((_, at) => at + 1))
    await expect
      .poll(async () => (await listCopies(writer, site, name)).slice(0, chain.length), waitOptions)
      .toEqual(chain)
  }
}

async function listCopies(writer: string, site: FederatedSite, name: string): Promise<AuditRecordLine[]> {
  const index = `/${name}.${site.name}.audit`
  await server.request('POST', `${index}/_refresh`)
  const query = { query: { term: { writer } }, size: 10_000, sort: [{ seq: 'asc' }] }
  const found = (await server.request('POST', `${index}/_search`, query)) as {
    hits: { hits: { _source: { record: AuditRecordLine } }[] }
  }
  return found.hits.hits.map(({ _source }) => _source.record)
}

function findHealthOperation(role: string): AnyOperation {
  const found = everyOperation.find(({ address }) => address === `${role}.service.health`)
  if (!found) throw new Error(`${role} has no health`)
  return found.operation
}
