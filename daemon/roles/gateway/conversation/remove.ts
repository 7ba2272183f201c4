// Removes a conversation of the caller with the chat, for good.
import * as z from 'zod'
import { noSuchObject } from '../../../kernel/error/missing-object.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { conversationId, conversations } from '../chat/model.ts'

export const remove = operation({
  summary: 'Remove a conversation of the caller with the chat; feedback on it stays until it expires',
  method: 'DELETE',
  path: '/api/v1/chat/conversations/{id}',
  input: z.strictObject({ id: z.string().min(1).max(128) }),
  output: z.strictObject({ conversation_id: conversationId }).meta({ id: 'RemovedConversation' }),
  errors: ['not_found', 'not_your_tenant'],
  allow: 'gateway:chat',

  async run(call, { id }) {
    const store = call.store(conversations)
    const doc = await store.find(id)
    // Administrators have no right to read or remove the conversations of others either.
    if (doc && doc.value.subject !== call.caller.subject) return noSuchObject(conversations.name)
    const audit = doc && [call.audited('gateway.conversation.removed', id, {}, doc.value.label)]
    // One that the caller cannot read is refused there: of another tenant, or missing.
    await store.remove(id, audit, doc?.version ?? 0)
    return { conversation_id: id }
  },
})
