// A spillage is removed everywhere that this site keeps messages, and stays removed; everything else stays as it was.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import type { AuditEvent } from '../../../daemon/kernel/audit.ts'
import { canonical, sha384 } from '../../../daemon/kernel/canonical.ts'
import type { Purged } from '../../../daemon/kernel/custody.ts'
import { aTrace } from '../../support/a-trace.ts'
import { drop, forge } from './forged.ts'
import { event, filesHolding } from './release-world.ts'
import {
  carry,
  incomingOf,
  labelFor,
  message,
  quarantineOf,
  restart,
  type Site,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

const secret = 'ORDER OF BATTLE 4711'
let world: World
beforeEach(async () => {
  world = await twoSites()
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const ordered: AuditEvent = { ...event, action: 'site.message.purge' }
const bodyOf = (data: object) => canonical({ label: labelFor(world.bravo.tenant_id), schema: 'test.v1', data })
const spilled = () => bodyOf({ session_id: 'ses_1', text: secret })
const folders = () => incomingOf(world.bravo, 'alpha')
const filesIn = (folder: string) => fs.readdirSync(folder).sort()

async function purge(site: Site, digest: string): Promise<Purged> {
  for (;;) {
    const answer = await site.transport.custody.purge(digest, 'spillage', [ordered])
    if (answer !== 'running') return answer
  }
}

/** Every file of the site that holds the words, its database and the log of that included. */
function holding(site: Site): string[] {
  const home = join(site.root, '..')
  const all = fs.readdirSync(home, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return all
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => fs.readFileSync(path).includes(secret))
}

async function receive(seq = 1, more: Parameters<typeof forge>[1] = {}) {
  const forged = await forge(world, { seq, body: spilled(), ...more })
  drop(world, forged)
  return forged
}

test.each(['body', 'statement'] as const)(
  'by the digest of its %s it is taken from done; the envelope stays',
  async (by) => {
    const { stem, digest } = await receive()
    await world.bravo.transport.rescan()
    drop(world, await forge(world, { seq: 2, statement: { prev: digest } }))
    await world.bravo.transport.rescan()
    const purged = await purge(world.bravo, by === 'body' ? sha384(spilled()) : digest)
    expect(purged).toMatchObject({
      bodies: [sha384(spilled())],
      places: [`alpha/in/done/${stem}.body.json`],
      msg_ids: [`msg_${'1'.padStart(32, '0')}`],
      sessions: ['ses_1'],
      journal: 'rewritten',
    })
    const second = stem.replace(/1$/, '2')
    expect(filesIn(folders().done)).toEqual([`${stem}.env.json`, `${second}.body.json`, `${second}.env.json`])
    expect(holding(world.bravo)).toEqual([])
  },
)

test('what comes again is known by its digest: nothing of it stays, and its number is no gap', async () => {
  await purge(world.bravo, sha384(spilled()))
  const first = await receive(1, { statement: { kind: 'result' } })
  drop(world, await forge(world, { seq: 2, statement: { kind: 'result', prev: first.digest } }))
  await world.bravo.transport.rescan()
  expect(quarantineOf(world.bravo, 'alpha')).toMatchObject([{ reason: 'REFUSED', code: 'purged' }])
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
  // As a duplicate of what is settled, and as what is refused before its number is looked at.
  await receive(1, { statement: { kind: 'result' } })
  await receive(7, { envelope: (text) => text.replace('"signature":"', '"signature":"A') })
  await restart(world.bravo)
  expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual([2])
  expect([holding(world.bravo), filesHolding(world, sha384(spilled()))]).toEqual([[], []])
})

test('from quarantine, from what waits in new, from what is held in work, under whatever name', async () => {
  await receive(1, { statement: { created: '2026-01-01T00:00:00Z' } })
  const { stem } = await receive(5, { statement: { kind: 'result' } })
  fs.writeFileSync(join(folders().fresh, 'notes.txt'), spilled())
  await world.bravo.transport.rescan()
  fs.writeFileSync(join(folders().fresh, '00000001-0000000000000009.body.json'), spilled())
  expect(filesHolding(world, sha384(spilled()))).toHaveLength(4)
  const { places } = await purge(world.bravo, sha384(spilled()))
  expect(
    places.map((place) => place.replace(/-[0-9a-f]{8}\./, '-….').replace(/stranger-[0-9a-f]+/, 'stranger')),
  ).toEqual([
    'alpha/in/new/00000001-0000000000000009.body.json',
    'alpha/in/quarantine/00000001-0000000000000001-….body.json',
    'alpha/in/quarantine/stranger-….file',
    `alpha/in/work/${stem}.body.json`,
  ])
  expect(holding(world.bravo)).toEqual([])
  expect(await world.bravo.journal.entry('filedrop/alpha/bravo', 1, 5)).toMatchObject({ code: 'purged' })
})

test('while its channel is frozen as well', async () => {
  await receive()
  await world.bravo.journal.setState('filedrop/alpha/bravo', 'frozen', 'people must look')
  expect((await purge(world.bravo, sha384(spilled()))).places).toHaveLength(1)
  expect(holding(world.bravo)).toEqual([])
})

const outgoing = (event_id: string) => message(world, { event_id, schema: 'test.v1', body: { text: secret } })
const sentBody = () => sha384(bodyOf({ text: secret }))
const out = () => incomingOf(world.alpha, 'bravo')

test('what is not published never is; its number is accounted for, and those behind it go', async () => {
  const outbox = async () => Promise.reject(new Error('the process died before it published anything'))
  const journal = { ...world.alpha.journal, outbox }
  world.alpha.transport = filedropTransport(world.alpha.options({}, { journal }))
  await world.alpha.transport.send(outgoing('spilled'), aTrace)
  await world.alpha.transport.send(message(world), aTrace)
  world.alpha.transport = filedropTransport(world.alpha.options())
  const { places } = await purge(world.alpha, sentBody())
  expect(places).toEqual(['journal/filedrop/alpha/bravo/00000001-0000000000000001'])
  await startReceiving(world.alpha)
  await world.alpha.transport.rescan()
  expect(filesIn(out().ready)).toEqual(['00000001-0000000000000002.body.json', '00000001-0000000000000002.env.json'])
  expect((await world.alpha.transport.status())[0]).toMatchObject({ backlog: 1 })
  const again = await world.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 1 })
  expect(again.not_resent).toEqual([{ first: 1, last: 1, why: 'purged' }])
  expect(holding(world.alpha)).toEqual([])
})

test('what is published is taken back whole; what the carrier took is told, and not sent again', async () => {
  await startReceiving(world.alpha)
  await world.alpha.transport.send(outgoing('first'), aTrace)
  await world.alpha.transport.rescan()
  carry(world.alpha, world.bravo)
  await world.alpha.transport.send(outgoing('second'), aTrace)
  await world.alpha.transport.rescan()
  const { places } = await purge(world.alpha, sentBody())
  expect(places).toEqual([
    'bravo/out/ready/00000001-0000000000000002.body.json',
    'bravo/out/sent/00000001-0000000000000001.body.json',
    'journal/filedrop/alpha/bravo/00000001-0000000000000002',
  ])
  expect([filesIn(out().ready), filesIn(out().sent)]).toEqual([[], ['00000001-0000000000000001.env.json']])
  const again = await world.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 2 })
  expect(again.not_resent).toEqual([{ first: 1, last: 2, why: 'purged' }])
  expect(holding(world.alpha)).toEqual([])
  await world.alpha.transport.rescan()
  expect(await world.alpha.journal.numbers('filedrop/alpha/bravo', 'PICKED_UP')).toEqual([])
})

test('the same words do not leave again, under no number', async () => {
  await purge(world.alpha, sentBody())
  await expect(world.alpha.transport.send(outgoing('again'), aTrace)).rejects.toMatchObject({ code: 'label_denied' })
  expect(await sendFromAlpha(world, 1)).toMatchObject([{ seq: 1 }])
})

test('a repeat tells the same and orders nothing twice; other messages stay whole', async () => {
  await receive()
  await world.bravo.transport.rescan()
  const first = await purge(world.bravo, sha384(spilled()))
  await restart(world.bravo)
  expect(await purge(world.bravo, sha384(spilled()))).toEqual(first)
  expect(await world.bravo.audit.list({ action: ordered.action, limit: 9 })).toHaveLength(1)
  expect((await purge(world.bravo, 'f'.repeat(96))).places).toEqual([])
})

test('a purge that was cut short after its order is ended by a repeat', async () => {
  await receive()
  await world.bravo.transport.rescan()
  await world.bravo.journal.orderPurge({ digest: sha384(spilled()), reason: 'spillage', at: 0 }, [ordered])
  expect(holding(world.bravo)).toHaveLength(1)
  expect((await purge(world.bravo, sha384(spilled()))).places).toHaveLength(1)
  expect(holding(world.bravo)).toEqual([])
})
