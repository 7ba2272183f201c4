// Heads of a peer's audit chains from its inventories: a chain that was cut short or rewritten there is detected here.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { type CarriedCheckpoint, inventory_schema } from '../../../daemon/kernel/messaging/inventory.ts'
import { statement } from '../../../daemon/kernel/messaging/statement.ts'
import { expectProblem } from '../../support/every-operation/expect-problem.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
let admin: string
let carrier: string
beforeAll(async () => {
  site = await startSingleClusterSite()
  admin = await site.token({ roles: ['admin'] })
  carrier = await site.token({ sub: 'role:site', tenant_id: '*', roles: ['service'] })
})
afterAll(() => site?.close())

let writer: string
beforeEach(() => {
  writer = `ingest-${randomBytes(4).toString('hex')}@bravo`
})

const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], releasable_to: ['alpha'], originator: 'bravo' }

async function signHead(seq: number, letter = 'a', more: Partial<CarriedCheckpoint> = {}): Promise<CarriedCheckpoint> {
  const head = { writer, seq, hash: letter.repeat(64), at: '2026-03-01T12:00:00.000Z', ...more }
  return { ...head, signature: await site.bravo.sign('checkpoint', Buffer.from(canonicalJson(head))) }
}

/** Bravo's inventory of this number, as its carrier hands it on. */
async function deliverInventory(
  number: number,
  checkpoints: readonly CarriedCheckpoint[],
  by: Pick<Signatures, 'sign'> = site.bravo,
) {
  const zeros = '0'.repeat(96)
  const data = { epoch: 1, highest: number - 1, rolling: zeros, digests: [], checkpoints }
  const body = JSON.stringify({ label, schema: inventory_schema, data })
  const content = statement.parse({
    ...{ v: 1, type: 'platform.message', channel: 'filedrop/bravo/alpha', src: 'bravo', dst: 'alpha' },
    ...{ sender_tenant_id: 'bravo', receiver_tenant_id: 'alpha', epoch: 1, seq: number, prev: zeros },
    ...{ msg_id: `msg_${randomBytes(16).toString('hex')}`, kind: 'inventory', created: new Date().toISOString() },
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: inventory_schema },
    ...{ label, parent_block_ids: [], max_hops: 1 },
  })
  const envelope = await by.sign('statement', Buffer.from(canonicalJson(content)))
  const sent = { envelope, body: Buffer.from(body).toString('base64url') }
  return await site.request('site', { method: 'POST', path: '/api/v2/site/peerhead', token: carrier, body: sent })
}

const buildCounts = (taken: number, contradicted = 0, unverified = 0) => ({
  peer: 'bravo',
  taken,
  contradicted,
  unverified,
})
async function listRefusals(action: string) {
  const path = `/api/v2/audit?action=${action}&limit=100`
  const { json, text } = await site.request('site', { method: 'GET', path, token: admin })
  const { items } = json as {
    items?: { event: { target: string; outcome: string; detail: Record<string, unknown> } }[]
  }
  if (!items) throw new Error(text)
  return items.map(({ event }) => event)
}

async function listAlarms() {
  return (await listRefusals('site.peerhead.contradict')).filter(({ target }) => target === writer)
}

test('a chain that grows is followed; an inventory that was overtaken tells nothing new', async () => {
  expect((await deliverInventory(2, [await signHead(5)])).json).toEqual(buildCounts(1))
  expect((await deliverInventory(4, [await signHead(9, 'b')])).json).toEqual(buildCounts(1))
  expect((await deliverInventory(3, [await signHead(7, 'c')])).json).toEqual(buildCounts(1))
  expect((await deliverInventory(5, [await signHead(9, 'b')])).json).toEqual(buildCounts(1))
  expect(await listAlarms()).toEqual([])
})

test.each([
  ['cut short', 'cut_short', () => signHead(4, 'c')],
  ['rewritten', 'rewritten', () => signHead(5, 'c')],
] as const)('reports a chain that was %s once, with both signed heads', async (_, found, now) => {
  const before = await signHead(5)
  await deliverInventory(1, [before])
  const heads = await now()
  expect((await deliverInventory(2, [heads])).json).toEqual(buildCounts(0, 1))
  expect((await deliverInventory(3, [heads])).json).toEqual(buildCounts(1))
  const [event, ...more] = await listAlarms()
  expect(more).toEqual([])
  expect(event).toMatchObject({ outcome: 'refused', detail: { found, peer: 'bravo' } })
  expect(event?.detail).toMatchObject({
    before: { seq: 5, hash: before.hash, signature: before.signature, number: 1 },
    now: { seq: heads.seq, hash: heads.hash, signature: heads.signature, number: 2 },
  })
  expect(site.logged.some((line) => line.includes(`site.peerhead.${found}`) && line.includes(writer))).toBe(true)
})

test('a head that the peer did not sign as it stands, or of another site’s chain, is passed over', async () => {
  const good = await signHead(5)
  const changed = { ...(await signHead(9)), seq: 10 }
  const another = await signHead(9, 'a', { writer: 'site@alpha' })
  const forStatement = { ...good, signature: await site.bravo.sign('statement', Buffer.from(canonicalJson(good))) }
  expect((await deliverInventory(1, [changed, another, forStatement, good])).json).toEqual(buildCounts(1, 0, 3))
  // The head was not stored: the last reported one has five records.
  expect((await deliverInventory(2, [await signHead(6)])).json).toEqual(buildCounts(1))
  expect(await listAlarms()).toEqual([])
  const [event] = await listRefusals('site.peerhead.unverified')
  expect(event).toMatchObject({
    ...{ target: 'bravo', outcome: 'refused' },
    detail: {
      number: 1,
      heads: [
        { writer, seq: 10 },
        { writer: 'site@alpha', seq: 9 },
        { writer, seq: 5 },
      ],
    },
  })
})

test('ignores a message that is not an inventory of a pinned peer', async () => {
  expectProblem(await deliverInventory(1, [{ ...(await signHead(1)), seq: -1 }]), [422])
  const refused = await deliverInventory(1, [await signHead(1)], {
    sign: async (type, payload) => ({ ...(await site.bravo.sign(type, payload)), payload: 'e30' }),
  })
  expectProblem(refused, [401, 403, 422])
})
