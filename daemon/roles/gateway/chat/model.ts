// A conversation as it is stored, and what a request for a turn of it and its response are.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { label } from '../../../kernel/label/label.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { collection } from '../../../kernel/store/store.ts'
import { guidanceBlock } from '../guide/guidance/model.ts'
import { modelName } from './model-endpoint.ts'

export const max_message_characters = 32_768
const max_schema_bytes = 32_768

export const conversationId = z.string().regex(/^conversation_[0-9a-f]{32}$/, 'must be the id of a conversation')

export const chatRequest = z.strictObject({
  message: requiredText(max_message_characters).meta({ description: 'Of the user, in plain language' }),
  conversation_id: conversationId.optional().meta({ description: 'Continues a conversation; absent: begins one' }),
  model: modelName.optional().meta({ description: 'One of the models that the operator allows' }),
  intent_schema: z
    .record(z.string().max(256), z.unknown())
    .refine((schema) => Buffer.byteLength(canonicalJson(schema)) <= max_schema_bytes, {
      error: `must have at most ${max_schema_bytes} bytes`,
    })
    .optional()
    .meta({ description: 'Schema of the intent of the user, by the generator of the front end' }),
  allow_changes: z.boolean().optional().meta({
    description: 'True: tools that change something may be called for this message (default: those that read)',
  }),
})
export type ChatRequest = z.infer<typeof chatRequest>

const toolUse = z
  .strictObject({
    id: z.string(),
    tool: z.string().meta({ description: 'As the gateway offers it, or the name that the model gave' }),
    arguments: z.record(z.string(), z.unknown()),
    outcome: z.enum(['answered', 'refused']),
    detail: z.string().optional().meta({ description: 'Why it was refused' }),
  })
  .meta({ id: 'ChatToolCall' })
export type ToolUse = z.infer<typeof toolUse>

const tokenCounts = z.strictObject({
  prompt: z.int().optional(),
  completion: z.int().optional(),
  total: z.int().optional(),
})
export type TokenCounts = z.infer<typeof tokenCounts>

/** Exactly the fields of the interface document. */
export const chatResponse = z
  .strictObject({
    response: z.string(),
    conversation_id: conversationId,
    tool_calls: z.array(toolUse),
    model_used: z.string(),
    tokens: tokenCounts.meta({ description: 'As the model counts them; empty where it does not' }),
    guide_guidance: guidanceBlock.nullable().meta({ description: 'For the front end; null: there is none' }),
  })
  .meta({ id: 'ChatResponse' })
export type ChatResponse = z.infer<typeof chatResponse>

const exchange = z.strictObject({
  at: z.number(),
  trace_id: z.string(),
  message: z.string(),
  response: z.string(),
  model_used: z.string(),
  tools: z.array(z.string()),
})
export type ChatExchange = z.infer<typeof exchange>

const storedConversation = z.strictObject({
  tenant_id: z.string(),
  /** The caller's level at its last message: what its tools could show it. */
  label,
  subject: z.string(),
  exchanges: z.array(exchange),
  updated_ts: z.number(),
  expires_ts: z.number(),
})
export type StoredConversation = z.infer<typeof storedConversation>

export const conversations = collection({
  name: 'chat_conversation',
  schema: storedConversation,
  indexes: ['subject', 'updated_ts'],
  orders: [['subject', 'updated_ts']],
})

/** Which caller a trace belongs to: under an id of tenant, subject and trace, so that nobody finds that of another. */
export const chatTraces = collection({
  name: 'chat_trace',
  schema: z.strictObject({
    tenant_id: z.string(),
    label,
    subject: z.string(),
    trace_id: z.string(),
    conversation_id: z.string(),
    expires_ts: z.number(),
  }),
  indexes: ['subject'],
})
