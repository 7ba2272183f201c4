// Lists messages of a peer that arrived and cannot be applied yet, and what each waits for.
import * as z from 'zod'
import { waitingMessage } from '../../../kernel/messaging/waiting-message.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import { oneWayOf } from '../one-way.ts'

export const list = operation({
  summary: 'List messages of a peer that cannot be applied yet',
  method: 'GET',
  path: '/api/v2/site/message',
  input: z.strictObject({ ...listFields, peer: z.string().min(1).max(64) }),
  output: pageSchema(waitingMessage).meta({ id: 'WaitingMessagePage' }),
  errors: ['not_found', 'unavailable'],
  allow: 'channel:read',

  async run(call, { peer, limit, cursor }) {
    const query = { filter: { peer }, limit, ...(cursor === undefined ? {} : { cursor }) }
    const position = readCursor('waiting_message', query)
    const [epoch, seq] = [Number(position?.value ?? 0), Number(position?.id ?? 0)]
    const waiting = await oneWayOf(call).waiting(peer)
    const after = waiting.filter((each) => each.epoch > epoch || (each.epoch === epoch && each.seq > seq))
    const items = after.slice(0, limit)
    const last = items.at(-1)
    const end = last && after.length > limit ? { value: last.epoch, id: String(last.seq) } : undefined
    const next = end ? { next_cursor: writeCursor('waiting_message', query, end) } : {}
    return { items, ...next, ...exactTotal(waiting.length) }
  },
})
