// Messages about the site itself (keys, inventories, receipts) cannot be sent by other roles.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../../support/site/single-cluster-site.ts'

let site: SingleClusterSite
beforeAll(async () => {
  site = await startSingleClusterSite({})
})
afterAll(() => site.close())

const siteOnlyKinds = messageKinds.names.filter((kind) => !messageKinds.sendable.includes(kind))

async function sendKind(kind: string): Promise<number> {
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
  return (await site.request('site', { method: 'POST', path: '/api/v2/site/message', token, body: message })).status
}

test('there are three such kinds', () => {
  expect(siteOnlyKinds).toEqual(['keys', 'inventory', 'gap_receipt'])
})

test.each(siteOnlyKinds)('%s is refused from an admin too, and has no number', async (kind) => {
  expect(await sendKind(kind)).toBe(422)
})

test('every other kind is sent', async () => {
  for (const kind of messageKinds.sendable) expect(await sendKind(kind), kind).toBe(202)
  const token = await site.token({ roles: ['auditor'] })
  const { json } = await site.request('site', { method: 'GET', path: '/api/v2/site/channel', token })
  const { items } = json as { items: { direction: string; highest_seq: number }[] }
  expect(items.find(({ direction }) => direction === 'out')?.highest_seq).toBe(messageKinds.sendable.length)
})
