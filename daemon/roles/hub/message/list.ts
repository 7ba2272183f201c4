// What waits for a node from one other, lowest number first; it stays until it is acknowledged.
import * as z from 'zod'
import { waitingMail } from '../../../kernel/coalition.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import type { Doc } from '../../../kernel/store.ts'
import { siteName } from '../../../kernel/transport.ts'
import { ownNode } from '../node/acting.ts'
import { mailboxes, type StoredMail } from './model.ts'

/** An answer ends with the message that reaches this, so that neither end holds a whole mailbox. */
const answer_bytes = 4 * 1_048_576

export const list = operation({
  summary: 'List what waits for a node',
  method: 'GET',
  path: '/api/v2/hub/node/{id}/message',
  input: z.strictObject({
    id: siteName,
    from: siteName.meta({ description: 'The node that sent it' }),
    limit: z.int().min(1).max(64).default(32).meta({ description: 'Most items of one page; it may have fewer' }),
    cursor: listFields.cursor,
  }),
  output: pageOf(waitingMail).meta({ id: 'MailPage' }),
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id: receiver, from: sender, limit, cursor }) {
    const own = await ownNode(call, receiver)
    if (isRefused(own)) return own
    const items: z.infer<typeof waitingMail>[] = []
    let bytes = 0
    let next = cursor
    do {
      const query = queryOf({ receiver, sender }, 1, next, { field: 'place', direction: 'asc' })
      const page = await call.store(mailboxes).list(query)
      for (const doc of page.docs) {
        items.push(shown(doc))
        bytes += doc.value.bytes
      }
      next = page.next_cursor
    } while (next !== undefined && items.length < limit && bytes < answer_bytes)
    return { items, ...(next === undefined ? {} : { next_cursor: next }) }
  },
})

function shown({ id, value }: Doc<StoredMail>): z.infer<typeof waitingMail> {
  const { sender: from, epoch, seq, envelope, body, arrived_at } = value
  return { id, from, epoch, seq, envelope, body, arrived_at }
}
