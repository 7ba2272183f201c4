// What a site says of itself (its keys, its numbers, what has arrived) nobody else can have it say, whatever they may send.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageKind, sentKind } from '../../../daemon/kernel/transport.ts'
import { type SmallSite, smallSite } from '../../support/small-site.ts'

let site: SmallSite
beforeAll(async () => {
  site = await smallSite({})
})
afterAll(() => site.close())

const own = messageKind.options.filter((kind) => !(sentKind.options as readonly string[]).includes(kind))

async function sent(kind: string): Promise<number> {
  const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha', releasable_to: ['bravo'] }
  const message = {
    peer: 'bravo',
    event_id: `e-${kind}`,
    kind,
    schema: 'some/1',
    body: {},
    label,
    parent_block_ids: [],
  }
  const token = await site.token({ roles: ['admin'] })
  return (await site.ask('site', { method: 'POST', path: '/api/v2/site/message', token, body: message })).status
}

test('there are three such kinds', () => {
  expect(own).toEqual(['keys', 'inventory', 'gap_receipt'])
})

test.each(own)('%s is refused from an admin too, and has no number', async (kind) => {
  expect(await sent(kind)).toBe(422)
})

test('every other kind is sent', async () => {
  for (const kind of sentKind.options) expect(await sent(kind), kind).toBe(202)
  const token = await site.token({ roles: ['auditor'] })
  const { json } = await site.ask('site', { method: 'GET', path: '/api/v2/site/channel', token })
  const { items } = json as { items: { direction: string; highest_seq: number }[] }
  expect(items.find(({ direction }) => direction === 'out')?.highest_seq).toBe(sentKind.options.length)
})
