// Lists messages of a peer that arrived and cannot be applied yet, and what each waits for.
import * as z from 'zod'
import { waitingMessage } from '../../../kernel/messaging/waiting-message.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { oneWayOf } from '../one-way.ts'

const pageCursor = z
  .string()
  .regex(/^\d{1,8}-\d{1,16}$/, 'must be next_cursor of the previous page')
  .meta({ description: 'next_cursor of the previous page' })

export const list = operation({
  summary: 'List messages of a peer that cannot be applied yet',
  method: 'GET',
  path: '/api/v2/site/message',
  input: z.strictObject({ ...listFields, peer: z.string().min(1).max(64), cursor: pageCursor.optional() }),
  output: pageSchema(waitingMessage).meta({ id: 'WaitingMessagePage' }),
  errors: ['not_found', 'unavailable'],
  allow: 'channel:read',

  async run(call, { peer, limit, cursor }) {
    const [epoch = 0, seq = 0] = cursor?.split('-').map(Number) ?? []
    const waiting = await oneWayOf(call).waiting(peer)
    const after = waiting.filter((each) => each.epoch > epoch || (each.epoch === epoch && each.seq > seq))
    const items = after.slice(0, limit)
    const last = items.at(-1)
    const next = last && after.length > limit ? { next_cursor: `${last.epoch}-${last.seq}` } : {}
    return { items, ...next, ...exactTotal(waiting.length) }
  },
})
