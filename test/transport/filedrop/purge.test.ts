// A spillage is removed everywhere that this site keeps messages, and stays removed; everything else stays as it was.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { PurgeResult } from '../../../daemon/kernel/messaging/custody.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildLabel,
  buildMessage,
  carryFiles,
  createFiledropSites,
  type FiledropSite,
  type FiledropSites,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, forgeMessage } from './forge-message.ts'
import { approvalEvent, listFilesWithDigest } from './release-quarantined.ts'

const secret = 'ORDER OF BATTLE 4711'
let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const purgeEvent: AuditEvent = { ...approvalEvent, action: 'site.message.purge' }
const buildBody = (data: object) => canonicalJson({ label: buildLabel(world.bravo.tenant_id), schema: 'test.v1', data })
const buildSpilledBody = () => buildBody({ session_id: 'ses_1', text: secret })
const readFolders = () => listChannelFolders(world.bravo, 'alpha')
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

async function receiveForged(seq = 1, more: Parameters<typeof forgeMessage>[1] = {}) {
  const forged = await forgeMessage(world, { seq, body: buildSpilledBody(), ...more })
  dropMessage(world, forged)
  return forged
}

test.each(['body', 'statement'] as const)(
  'by the digest of its %s it is taken from done; the envelope stays',
  async (by) => {
    const { stem, digest } = await receiveForged()
    await world.bravo.transport.rescan()
    dropMessage(world, await forgeMessage(world, { seq: 2, statement: { prev: digest } }))
    await world.bravo.transport.rescan()
    const purged = await purgeDigest(world.bravo, by === 'body' ? sha384(buildSpilledBody()) : digest)
    expect(purged).toMatchObject({
      bodies: [sha384(buildSpilledBody())],
      places: [`alpha/in/done/${stem}.body.json`],
      msg_ids: [`msg_${'1'.padStart(32, '0')}`],
      sessions: ['ses_1'],
      journal: 'rewritten',
    })
    const second = stem.replace(/1$/, '2')
    expect(listFiles(readFolders().done)).toEqual([`${stem}.env.json`, `${second}.body.json`, `${second}.env.json`])
    expect(listFilesHolding(world.bravo)).toEqual([])
  },
)

test('what comes again is known by its digest: nothing of it stays, and its number is no gap', async () => {
  await purgeDigest(world.bravo, sha384(buildSpilledBody()))
  const first = await receiveForged(1, { statement: { kind: 'result' } })
  dropMessage(world, await forgeMessage(world, { seq: 2, statement: { kind: 'result', prev: first.digest } }))
  await world.bravo.transport.rescan()
  expect(listQuarantineReasons(world.bravo, 'alpha')).toMatchObject([{ reason: 'REFUSED', code: 'purged' }])
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
  // As a duplicate of what is settled, and as what is refused before its number is looked at.
  await receiveForged(1, { statement: { kind: 'result' } })
  await receiveForged(7, { envelope: (text) => text.replace('"signature":"', '"signature":"A') })
  await restartSite(world.bravo)
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
  expect([listFilesHolding(world.bravo), listFilesWithDigest(world, sha384(buildSpilledBody()))]).toEqual([[], []])
})

test('from quarantine, from what waits in new, from what is held in work, under whatever name', async () => {
  await receiveForged(1, { statement: { created: '2026-01-01T00:00:00Z' } })
  const { stem } = await receiveForged(5, { statement: { kind: 'result' } })
  fs.writeFileSync(join(readFolders().fresh, 'notes.txt'), buildSpilledBody())
  await world.bravo.transport.rescan()
  fs.writeFileSync(join(readFolders().fresh, '00000001-0000000000000009.body.json'), buildSpilledBody())
  expect(listFilesWithDigest(world, sha384(buildSpilledBody()))).toHaveLength(4)
  const { places } = await purgeDigest(world.bravo, sha384(buildSpilledBody()))
  expect(
    places.map((place) => place.replace(/-[0-9a-f]{8}\./, '-….').replace(/stranger-[0-9a-f]+/, 'stranger')),
  ).toEqual([
    'alpha/in/new/00000001-0000000000000009.body.json',
    'alpha/in/quarantine/00000001-0000000000000001-….body.json',
    'alpha/in/quarantine/stranger-….file',
    `alpha/in/work/${stem}.body.json`,
  ])
  expect(listFilesHolding(world.bravo)).toEqual([])
  expect(await world.bravo.journal.entry('filedrop/alpha/bravo', 1, 5)).toMatchObject({ code: 'purged' })
})

test('while its channel is frozen as well', async () => {
  await receiveForged()
  await world.bravo.journal.setState('filedrop/alpha/bravo', 'frozen', 'people must look')
  expect((await purgeDigest(world.bravo, sha384(buildSpilledBody()))).places).toHaveLength(1)
  expect(listFilesHolding(world.bravo)).toEqual([])
})

const buildSpillage = (event_id: string) => buildMessage(world, { event_id, schema: 'test.v1', body: { text: secret } })
const digestSentBody = () => sha384(buildBody({ text: secret }))
const readOutFolders = () => listChannelFolders(world.alpha, 'bravo')

test('what is not published never is; its number is accounted for, and those behind it go', async () => {
  const outbox = async () => Promise.reject(new Error('the process died before it published anything'))
  const journal = { ...world.alpha.journal, outbox }
  world.alpha.transport = filedropTransport(world.alpha.options({}, { journal }))
  await world.alpha.transport.send(buildSpillage('spilled'), sampleTrace)
  await world.alpha.transport.send(buildMessage(world), sampleTrace)
  world.alpha.transport = filedropTransport(world.alpha.options())
  const { places } = await purgeDigest(world.alpha, digestSentBody())
  expect(places).toEqual(['journal/filedrop/alpha/bravo/00000001-0000000000000001'])
  await startReceiving(world.alpha)
  await world.alpha.transport.rescan()
  expect(listFiles(readOutFolders().ready)).toEqual([
    '00000001-0000000000000002.body.json',
    '00000001-0000000000000002.env.json',
  ])
  expect((await world.alpha.transport.status())[0]).toMatchObject({ backlog: 1 })
  const again = await world.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 1 })
  expect(again.not_resent).toEqual([{ first: 1, last: 1, why: 'purged' }])
  expect(listFilesHolding(world.alpha)).toEqual([])
})

test('what is published is taken back whole; what the carrier took is told, and not sent again', async () => {
  await startReceiving(world.alpha)
  await world.alpha.transport.send(buildSpillage('first'), sampleTrace)
  await world.alpha.transport.rescan()
  carryFiles(world.alpha, world.bravo)
  await world.alpha.transport.send(buildSpillage('second'), sampleTrace)
  await world.alpha.transport.rescan()
  const { places } = await purgeDigest(world.alpha, digestSentBody())
  expect(places).toEqual([
    'bravo/out/ready/00000001-0000000000000002.body.json',
    'bravo/out/sent/00000001-0000000000000001.body.json',
    'journal/filedrop/alpha/bravo/00000001-0000000000000002',
  ])
  expect([listFiles(readOutFolders().ready), listFiles(readOutFolders().sent)]).toEqual([
    [],
    ['00000001-0000000000000001.env.json'],
  ])
  const again = await world.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 2 })
  expect(again.not_resent).toEqual([{ first: 1, last: 2, why: 'purged' }])
  expect(listFilesHolding(world.alpha)).toEqual([])
  await world.alpha.transport.rescan()
  expect(await world.alpha.journal.numbers('filedrop/alpha/bravo', 'PICKED_UP')).toEqual([])
})

test('the same words do not leave again, under no number', async () => {
  await purgeDigest(world.alpha, digestSentBody())
  await expect(world.alpha.transport.send(buildSpillage('again'), sampleTrace)).rejects.toMatchObject({
    code: 'label_denied',
  })
  expect(await sendFromAlpha(world, 1)).toMatchObject([{ seq: 1 }])
})

test('a repeat tells the same and orders nothing twice; other messages stay whole', async () => {
  await receiveForged()
  await world.bravo.transport.rescan()
  const first = await purgeDigest(world.bravo, sha384(buildSpilledBody()))
  await restartSite(world.bravo)
  expect(await purgeDigest(world.bravo, sha384(buildSpilledBody()))).toEqual(first)
  expect(await world.bravo.audit.list({ action: purgeEvent.action, limit: 9 })).toHaveLength(1)
  expect((await purgeDigest(world.bravo, 'f'.repeat(96))).places).toEqual([])
})

test('a purge that was cut short after its order is ended by a repeat', async () => {
  await receiveForged()
  await world.bravo.transport.rescan()
  await world.bravo.journal.orderPurge({ digest: sha384(buildSpilledBody()), reason: 'spillage', at: 0 }, [purgeEvent])
  expect(listFilesHolding(world.bravo)).toHaveLength(1)
  expect((await purgeDigest(world.bravo, sha384(buildSpilledBody()))).places).toHaveLength(1)
  expect(listFilesHolding(world.bravo)).toEqual([])
})
