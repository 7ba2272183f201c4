// Lists the messages that wait for a node from one sender, lowest number first; each stays until it is acknowledged.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { queuedHubMessage } from '../../../shared/coalition/hub-protocol.ts'
import { loadOwnNode } from '../node/load-own-node.ts'
import { mailboxes, type StoredMail } from './model.ts'

/** A page ends with the message that reaches this size, so that neither end holds a whole mailbox in memory. */
const max_page_bytes = 4 * 1_048_576

export const list = operation({
  summary: 'List the messages that wait for a node',
  method: 'GET',
  path: '/api/v2/hub/node/{id}/message',
  input: z.strictObject({
    id: siteName,
    from: siteName.meta({ description: 'The node that sent the messages' }),
    limit: z
      .int()
      .min(1)
      .max(64)
      .default(32)
      .meta({ description: 'Largest number of items of a page; a page may have fewer' }),
    cursor: listFields.cursor,
  }),
  output: pageSchema(queuedHubMessage).meta({ id: 'MailPage' }),
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id: receiver, from: sender, limit, cursor }) {
    const node = await loadOwnNode(call, receiver)
    if (isRefusal(node)) return node
    const items: z.infer<typeof queuedHubMessage>[] = []
    let bytes = 0
    let next = cursor
    do {
      const query = buildListQuery({ receiver, sender }, 1, next, { field: 'place', direction: 'asc' })
      const page = await call.store(mailboxes).list(query)
      for (const doc of page.docs) {
        items.push(showMail(doc))
        bytes += doc.value.bytes
      }
      next = page.next_cursor
    } while (next !== undefined && items.length < limit && bytes < max_page_bytes)
    const counted = await call.store(mailboxes).total({ receiver, sender })
    return { items, ...(next === undefined ? {} : { next_cursor: next }), ...counted }
  },
})

function showMail({ id, value }: Doc<StoredMail>): z.infer<typeof queuedHubMessage> {
  const { sender: from, epoch, seq, envelope, body, arrived_at } = value
  return { id, from, epoch, seq, envelope, body, arrived_at }
}
