// Parts of the chat: its model, and the tools that the gateway offers.
import type { ChatModel } from '../../../kernel/model/chat-model.ts'
import type { AddressedOperation } from '../../../kernel/operation/operation.ts'
import { part } from '../../../kernel/role/part.ts'

/** `model` is undefined where the profile names none. */
export type ChatParts = {
  readonly model: ChatModel | undefined
  /** Those of `/agentspace` of the gateway, for all callers: the same array until they change. */
  readonly tools: () => readonly AddressedOperation[]
}

export const chatPart = part<ChatParts>('chat')
