// A spillage is removed everywhere that this site keeps messages, and stays removed; everything else stays as it was.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { filedropTransport } from '../../../../adapters/transport/filedrop/transport.ts'
import type { AuditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { canonicalJson, sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { PurgeResult } from '../../../../daemon/kernel/messaging/custody.ts'
import { readFolders } from '../../../support/filedrop/filedrop-readers.ts'
import {
  buildLabel,
  buildMessage,
  carryFiles,
  type FiledropSite,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'
import { approvalEvent, listFilesWithDigest } from '../../../support/filedrop/release-quarantined.ts'
import { sampleTrace } from '../../../support/trace/sample-trace.ts'

const secret = 'ORDER OF BATTLE 4711'
const test = filedropTest.extend({ options: { receiving: ['bravo'] } })

const purgeEvent: AuditEvent = { ...approvalEvent, action: 'site.message.purge' }
const buildBody = (sites: FiledropSites, data: object) =>
  canonicalJson({ label: buildLabel(sites.bravo.tenant_id), schema: 'test.v1', data })
const buildSpilledBody = (sites: FiledropSites) => buildBody(sites, { session_id: 'ses_1', text: secret })
const listFiles = (folder: string) => fs.readdirSync(folder).sort()

async function purgeDigest(site: FiledropSite, digest: string): Promise<PurgeResult> {
  for (;;) {
    const answer = await site.transport.custody.purge(digest, 'spillage', [purgeEvent])
    if (answer !== 'running') return answer
  }
}

/** Every file of the site that holds the words, its database and the log of that included. */
function listFilesHolding(site: FiledropSite): string[] {
  const home = join(site.root, '..')
  const all = fs.readdirSync(home, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return all
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => fs.readFileSync(path).includes(secret))
}

async function receiveForged(sites: FiledropSites, seq = 1, more: Parameters<typeof forgeMessage>[1] = {}) {
  const forged = await forgeMessage(sites, { seq, body: buildSpilledBody(sites), ...more })
  dropMessage(sites, forged)
  return forged
}

test.for(['body', 'statement'] as const)(
  'by the digest of its %s it is taken from done; the envelope stays',
  async (by, { sites }) => {
    const { stem, digest } = await receiveForged(sites)
    await sites.bravo.transport.rescan()
    dropMessage(sites, await forgeMessage(sites, { seq: 2, statement: { prev: digest } }))
    await sites.bravo.transport.rescan()
    const purged = await purgeDigest(sites.bravo, by === 'body' ? sha384(buildSpilledBody(sites)) : digest)
    expect(purged).toMatchObject({
      bodies: [sha384(buildSpilledBody(sites))],
      places: [`alpha/in/done/${stem}.body.json`],
      msg_ids: [`msg_${'1'.padStart(32, '0')}`],
      sessions: ['ses_1'],
      journal: 'rewritten',
    })
    const second = stem.replace(/1$/, '2')
    expect(listFiles(readFolders(sites).done)).toEqual([
      `${stem}.env.json`,
      `${second}.body.json`,
      `${second}.env.json`,
    ])
    expect(listFilesHolding(sites.bravo)).toEqual([])
  },
)

test('a repeat is known by its digest: nothing of it stays, and its number leaves no gap', async ({ sites }) => {
  await purgeDigest(sites.bravo, sha384(buildSpilledBody(sites)))
  const first = await receiveForged(sites, 1, { statement: { kind: 'result' } })
  dropMessage(sites, await forgeMessage(sites, { seq: 2, statement: { kind: 'result', prev: first.digest } }))
  await sites.bravo.transport.rescan()
  expect(listQuarantineReasons(sites.bravo, 'alpha')).toMatchObject([{ reason: 'REFUSED', code: 'purged' }])
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
  // As a duplicate of a settled message, and as one refused before its number is read.
  await receiveForged(sites, 1, { statement: { kind: 'result' } })
  await receiveForged(sites, 7, { envelope: (text) => text.replace('"signature":"', '"signature":"A') })
  await restartSite(sites.bravo)
  expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
  expect([listFilesHolding(sites.bravo), listFilesWithDigest(sites, sha384(buildSpilledBody(sites)))]).toEqual([[], []])
})

test('from quarantine, from new, from messages held in work, under any name', async ({ sites }) => {
  await receiveForged(sites, 1, { statement: { created: '2026-01-01T00:00:00Z' } })
  const { stem } = await receiveForged(sites, 5, { statement: { kind: 'result' } })
  fs.writeFileSync(join(readFolders(sites).fresh, 'notes.txt'), buildSpilledBody(sites))
  await sites.bravo.transport.rescan()
  fs.writeFileSync(join(readFolders(sites).fresh, '00000001-0000000000000009.body.json'), buildSpilledBody(sites))
  expect(listFilesWithDigest(sites, sha384(buildSpilledBody(sites)))).toHaveLength(4)
  const { places } = await purgeDigest(sites.bravo, sha384(buildSpilledBody(sites)))
  expect(
    places.map((place) => place.replace(/-[0-9a-f]{8}\./, '-….').replace(/stranger-[0-9a-f]+/, 'stranger')),
  ).toEqual([
    'alpha/in/new/00000001-0000000000000009.body.json',
    'alpha/in/quarantine/00000001-0000000000000001-….body.json',
    'alpha/in/quarantine/stranger-….file',
    `alpha/in/work/${stem}.body.json`,
  ])
  expect(listFilesHolding(sites.bravo)).toEqual([])
  expect(await sites.bravo.journal.entry('filedrop/alpha/bravo', 1, 5)).toMatchObject({ code: 'purged' })
})

test('while its channel is frozen as well', async ({ sites }) => {
  await receiveForged(sites)
  await sites.bravo.journal.setState('filedrop/alpha/bravo', 'frozen', 'people must look')
  expect((await purgeDigest(sites.bravo, sha384(buildSpilledBody(sites)))).places).toHaveLength(1)
  expect(listFilesHolding(sites.bravo)).toEqual([])
})

const buildSpillage = (sites: FiledropSites, event_id: string) =>
  buildMessage(sites, { event_id, schema: 'test.v1', body: { text: secret } })
const digestSentBody = (sites: FiledropSites) => sha384(buildBody(sites, { text: secret }))
const readOutFolders = (sites: FiledropSites) => listChannelFolders(sites.alpha, 'bravo')

test('an unpublished message never leaves; its number is accounted for, and those behind it go', async ({ sites }) => {
  const outbox = async () => Promise.reject(new Error('the process died before it published anything'))
  const journal = { ...sites.alpha.journal, outbox }
  sites.alpha.transport = filedropTransport(sites.alpha.options({}, { journal }))
  await sites.alpha.transport.send(buildSpillage(sites, 'spilled'), sampleTrace)
  await sites.alpha.transport.send(buildMessage(sites), sampleTrace)
  sites.alpha.transport = filedropTransport(sites.alpha.options())
  const { places } = await purgeDigest(sites.alpha, digestSentBody(sites))
  expect(places).toEqual(['journal/filedrop/alpha/bravo/00000001-0000000000000001'])
  await startReceiving(sites.alpha)
  await sites.alpha.transport.rescan()
  expect(listFiles(readOutFolders(sites).ready)).toEqual([
    '00000001-0000000000000002.body.json',
    '00000001-0000000000000002.env.json',
  ])
  expect((await sites.alpha.transport.status())[0]).toMatchObject({ backlog: 1 })
  const again = await sites.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 1 })
  expect(again.not_resent).toEqual([{ first: 1, last: 1, why: 'purged' }])
  expect(listFilesHolding(sites.alpha)).toEqual([])
})

test('a published message is taken back whole; one taken by the carrier is reported, and not sent again', async ({
  sites,
}) => {
  await startReceiving(sites.alpha)
  await sites.alpha.transport.send(buildSpillage(sites, 'first'), sampleTrace)
  await sites.alpha.transport.rescan()
  carryFiles(sites.alpha, sites.bravo)
  await sites.alpha.transport.send(buildSpillage(sites, 'second'), sampleTrace)
  await sites.alpha.transport.rescan()
  const { places } = await purgeDigest(sites.alpha, digestSentBody(sites))
  expect(places).toEqual([
    'bravo/out/ready/00000001-0000000000000002.body.json',
    'bravo/out/sent/00000001-0000000000000001.body.json',
    'journal/filedrop/alpha/bravo/00000001-0000000000000002',
  ])
  expect([listFiles(readOutFolders(sites).ready), listFiles(readOutFolders(sites).sent)]).toEqual([
    [],
    ['00000001-0000000000000001.env.json'],
  ])
  const again = await sites.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 2 })
  expect(again.not_resent).toEqual([{ first: 1, last: 2, why: 'purged' }])
  expect(listFilesHolding(sites.alpha)).toEqual([])
  await sites.alpha.transport.rescan()
  expect(await sites.alpha.journal.numbers('filedrop/alpha/bravo', 'PICKED_UP')).toEqual([])
})

test('the same words do not leave again, under no number', async ({ sites }) => {
  await purgeDigest(sites.alpha, digestSentBody(sites))
  await expect(sites.alpha.transport.send(buildSpillage(sites, 'again'), sampleTrace)).rejects.toMatchObject({
    code: 'label_denied',
  })
  expect(await sendFromAlpha(sites, 1)).toMatchObject([{ seq: 1 }])
})

test('a repeat tells the same and orders nothing twice; other messages stay whole', async ({ sites }) => {
  await receiveForged(sites)
  await sites.bravo.transport.rescan()
  const first = await purgeDigest(sites.bravo, sha384(buildSpilledBody(sites)))
  await restartSite(sites.bravo)
  expect(await purgeDigest(sites.bravo, sha384(buildSpilledBody(sites)))).toEqual(first)
  expect(await sites.bravo.audit.list({ action: purgeEvent.action, limit: 9 })).toHaveLength(1)
  expect((await purgeDigest(sites.bravo, 'f'.repeat(96))).places).toEqual([])
})

test('a purge that was cut short after its order is ended by a repeat', async ({ sites }) => {
  await receiveForged(sites)
  await sites.bravo.transport.rescan()
  await sites.bravo.journal.orderPurge({ digest: sha384(buildSpilledBody(sites)), reason: 'spillage', at: 0 }, [
    purgeEvent,
  ])
  expect(listFilesHolding(sites.bravo)).toHaveLength(1)
  expect((await purgeDigest(sites.bravo, sha384(buildSpilledBody(sites)))).places).toHaveLength(1)
  expect(listFilesHolding(sites.bravo)).toEqual([])
})
