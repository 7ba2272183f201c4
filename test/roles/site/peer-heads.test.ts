// The heads of a peer's audit chains, told by its inventories: a chain that is cut short or rewritten there shows here.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { canonical, sha384 } from '../../../daemon/kernel/canonical.ts'
import { type CarriedCheckpoint, inventory_schema } from '../../../daemon/kernel/inventory.ts'
import type { Signatures } from '../../../daemon/kernel/keys.ts'
import { statement } from '../../../daemon/kernel/transport.ts'
import { problemIn } from '../../support/every-operation/problem-rules.ts'
import { type SmallSite, smallSite } from '../../support/small-site.ts'

let site: SmallSite
let admin: string
beforeAll(async () => {
  site = await smallSite()
  admin = await site.token({ roles: ['admin'] })
})
afterAll(() => site?.close())

let writer: string
beforeEach(() => {
  writer = `ingest-${randomBytes(4).toString('hex')}@bravo`
})

const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], releasable_to: ['alpha'], originator: 'bravo' }

async function head(seq: number, letter = 'a', more: Partial<CarriedCheckpoint> = {}): Promise<CarriedCheckpoint> {
  const said = { writer, seq, hash: letter.repeat(64), at: '2026-03-01T12:00:00.000Z', ...more }
  return { ...said, signature: await site.bravo.sign('checkpoint', Buffer.from(canonical(said))) }
}

/** Bravo's inventory of this number, as its carrier hands it on. */
async function tell(
  number: number,
  checkpoints: readonly CarriedCheckpoint[],
  by: Pick<Signatures, 'sign'> = site.bravo,
) {
  const zeros = '0'.repeat(96)
  const data = { epoch: 1, highest: number - 1, rolling: zeros, digests: [], checkpoints }
  const body = JSON.stringify({ label, schema: inventory_schema, data })
  const said = statement.parse({
    ...{ v: 1, type: 'platform.message', channel: 'filedrop/bravo/alpha', src: 'bravo', dst: 'alpha' },
    ...{ sender_tenant_id: 'bravo', receiver_tenant_id: 'alpha', epoch: 1, seq: number, prev: zeros },
    ...{ msg_id: `msg_${randomBytes(16).toString('hex')}`, kind: 'inventory', created: new Date().toISOString() },
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: inventory_schema },
    ...{ label, parent_block_ids: [], max_hops: 1 },
  })
  const envelope = await by.sign('statement', Buffer.from(canonical(said)))
  const sent = { envelope, body: Buffer.from(body).toString('base64url') }
  return await site.ask('site', { method: 'POST', path: '/api/v2/site/peerhead', token: admin, body: sent })
}

const counts = (taken: number, contradicted = 0, unverified = 0) => ({ peer: 'bravo', taken, contradicted, unverified })
async function alarms() {
  const path = '/api/v2/audit?action=site.peerhead.contradict&limit=100'
  const { json, text } = await site.ask('site', { method: 'GET', path, token: admin })
  const { items } = json as {
    items?: { event: { target: string; outcome: string; detail: Record<string, unknown> } }[]
  }
  if (!items) throw new Error(text)
  return items.map(({ event }) => event).filter(({ target }) => target === writer)
}

test('a chain that grows is followed; an inventory that was overtaken tells nothing new', async () => {
  expect((await tell(2, [await head(5)])).json).toEqual(counts(1))
  expect((await tell(4, [await head(9, 'b')])).json).toEqual(counts(1))
  expect((await tell(3, [await head(7, 'c')])).json).toEqual(counts(1))
  expect((await tell(5, [await head(9, 'b')])).json).toEqual(counts(1))
  expect(await alarms()).toEqual([])
})

test.each([
  ['cut short', 'cut_short', () => head(4, 'c')],
  ['rewritten', 'rewritten', () => head(5, 'c')],
] as const)('a chain that was %s is told once, with what both times was signed', async (_, found, now) => {
  const before = await head(5)
  await tell(1, [before])
  const told = await now()
  expect((await tell(2, [told])).json).toEqual(counts(0, 1))
  expect((await tell(3, [told])).json).toEqual(counts(1))
  const [event, ...more] = await alarms()
  expect(more).toEqual([])
  expect(event).toMatchObject({ outcome: 'refused', detail: { found, peer: 'bravo' } })
  expect(event?.detail).toMatchObject({
    before: { seq: 5, hash: before.hash, signature: before.signature, number: 1 },
    now: { seq: told.seq, hash: told.hash, signature: told.signature, number: 2 },
  })
  expect(site.logged.some((line) => line.includes(`site.peerhead.${found}`) && line.includes(writer))).toBe(true)
})

test('a head that the peer did not sign as it stands, or of another site’s chain, is passed over', async () => {
  const good = await head(5)
  const changed = { ...(await head(9)), seq: 10 }
  const another = await head(9, 'a', { writer: 'site@alpha' })
  const forStatement = { ...good, signature: await site.bravo.sign('statement', Buffer.from(canonical(good))) }
  expect((await tell(1, [changed, another, forStatement, good])).json).toEqual(counts(1, 0, 3))
  // Nothing of it is remembered: five records are what it was told.
  expect((await tell(2, [await head(6)])).json).toEqual(counts(1))
  expect(await alarms()).toEqual([])
})

test('what is no inventory of a pinned peer is not read', async () => {
  problemIn(await tell(1, [{ ...(await head(1)), seq: -1 }]), [422])
  const refused = await tell(1, [await head(1)], {
    sign: async (type, payload) => ({ ...(await site.bravo.sign(type, payload)), payload: 'e30' }),
  })
  problemIn(refused, [401, 403, 422])
})
