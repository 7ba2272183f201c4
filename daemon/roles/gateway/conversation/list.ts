// Lists the conversations of the caller with the chat, the one with the last message first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import { conversationId, conversations } from '../chat/model.ts'

const max_excerpt_characters = 120

const conversationSummary = z
  .strictObject({
    conversation_id: conversationId,
    last_message: z.string().meta({ description: 'The last message of the user, shortened' }),
    messages: z.int().meta({ description: 'That are kept' }),
    level: z.string(),
    updated_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'ConversationSummary' })

export const list = operation({
  summary: 'List the conversations of the caller with the chat, the one with the last message first',
  method: 'GET',
  path: '/api/v1/chat/conversations',
  input: z.strictObject(listFields),
  output: pageSchema(conversationSummary).meta({ id: 'ConversationPage' }),
  errors: [],
  allow: 'gateway:chat',

  async run(call, { limit, cursor }) {
    const order = { field: 'updated_ts', direction: 'desc' } as const
    const query = buildListQuery({ subject: call.caller.subject }, limit, cursor, order)
    const { docs, ...counted } = await call.store(conversations).page(query)
    const items = docs.map(({ id, value: { exchanges, label, updated_ts, expires_ts } }) => ({
      conversation_id: id,
      last_message: shortenText(exchanges.at(-1)?.message ?? '', max_excerpt_characters),
      messages: exchanges.length,
      level: label.level,
      updated_at: new Date(updated_ts).toISOString(),
      expires_at: new Date(expires_ts).toISOString(),
    }))
    return { items, ...counted }
  },
})
