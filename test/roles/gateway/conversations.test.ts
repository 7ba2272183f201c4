// Conversations with the chat: listed and removed by their own caller, and by nobody else.
import { expect, test } from 'vitest'
import { list } from '../../../daemon/roles/gateway/conversation/list.ts'
import { remove } from '../../../daemon/roles/gateway/conversation/remove.ts'
import type { TokenHolder } from '../../support/site/test-site.ts'
import { ann, bob, setUpChat } from './chat-site.ts'

const stage = setUpChat({ isOffline: true })

const begin = async (who: TokenHolder, message: string, conversation_id?: string): Promise<string> => {
  const { status, body } = await stage().say(who, { message, conversation_id })
  expect(status).toBe(200)
  stage().site.clock.advance(1_000)
  return body.conversation_id
}
const listOf = async (who: TokenHolder) => (await (await stage().site.as(who)).ok(list, { limit: 50 })).items
const removeAs = async (who: TokenHolder, id: string) =>
  (await (await stage().site.as(who)).call(remove, { id })).status
const pat: TokenHolder = { subject: 'pat', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }

test('are listed with their last message, the newest first, page by page', async () => {
  const first = await begin(ann, 'hello')
  const second = await begin(ann, 'x'.repeat(1_000))
  await begin(ann, 'hello again', first)
  await begin(bob, 'of bob')
  expect(await listOf(ann)).toMatchObject([
    { conversation_id: first, last_message: 'hello again', messages: 2, level: 'TOP_SECRET' },
    { conversation_id: second, messages: 1 },
  ])
  expect((await listOf(ann))[1]?.last_message.length).toBeLessThanOrEqual(121)
  const client = await stage().site.as(ann)
  const page = await client.ok(list, { limit: 1 })
  expect([page.items.length, page.total]).toEqual([1, 2])
  const rest = await client.ok(list, { limit: 1, cursor: page.next_cursor ?? '' })
  expect(rest.items.map(({ conversation_id }) => conversation_id)).toEqual([second])
})

test('are those of the caller alone, in its tenant and under its clearance', async () => {
  const id = await begin(ann, 'mine')
  const elsewhere = { ...ann, tenant: 'tenant-b' }
  for (const who of [pat, bob, elsewhere, { ...ann, clearance: { level: 'UNCLASSIFIED' } }]) {
    expect((await listOf(who)).map(({ conversation_id }) => conversation_id)).not.toContain(id)
    expect(await removeAs(who, id)).toBe(who === elsewhere ? 403 : 404)
  }
  expect((await listOf(ann)).map(({ conversation_id }) => conversation_id)).toContain(id)
  expect((await (await stage().site.as({ subject: 'al', roles: ['auditor'] })).call(list, { limit: 5 })).status).toBe(
    403,
  )
})

test('are gone once they are removed, which is audited without a word of them', async () => {
  const id = await begin(ann, 'forget this')
  expect([await removeAs(ann, id), await removeAs(ann, id)]).toEqual([200, 404])
  expect((await stage().say(ann, { message: 'go on', conversation_id: id })).status).toBe(404)
  const token = await stage().site.token({ subject: 'al', roles: ['auditor'], clearance: { level: 'TOP_SECRET' } })
  const at = `/api/v2/gateway/audit?target=${id}`
  const { json } = await stage().site.call('gateway', 'GET', at, undefined, { token })
  expect((json as { items: { event: object }[] }).items.map(({ event }) => event)).toMatchObject([
    { action: 'gateway.conversation.removed', subject: 'ann', detail: {} },
  ])
})
