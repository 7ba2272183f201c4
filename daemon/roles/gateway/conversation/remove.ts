// Removes a conversation of the caller with the chat, for good.
import * as z from 'zod'
import { noSuchObject } from '../../../kernel/error/missing-object.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { conversationId, conversations } from '../chat/model.ts'

export const remove = operation({
  summary: 'Remove a conversation of the caller with the chat; feedback on it stays until it expires',
  method: 'DELETE',
  path: '/api/v1/chat/conversations/{id}',
  input: z.strictObject({ id: conversationId }),
  output: z.strictObject({ conversation_id: conversationId }).meta({ id: 'RemovedConversation' }),
  errors: ['not_found'],
  allow: 'gateway:chat',

  async run(call, { id }) {
    const doc = await call.store(conversations).find(id)
    // Whatever its rights: that of another caller does not exist for it.
    if (!doc || doc.value.subject !== call.caller.subject) return noSuchObject('conversation')
    const audit = [call.audited('gateway.conversation.removed', id, {}, doc.value.label)]
    await call.store(conversations).remove(id, audit, doc.version)
    return { conversation_id: id }
  },
})
