// Settings of the chat of the gateway: its model, and the limits of a turn and of what is kept.
import * as z from 'zod'
import { settingsBlock } from '../../../kernel/settings/settings.ts'
import { endpointKey, endpointUrl, modelName } from './model-endpoint.ts'

export const chatSettings = settingsBlock('chat', {
  model_url: endpointUrl.optional().meta({
    env: 'CHAT_MODEL_URL',
    doc: 'Base URL of an OpenAI-compatible API, to which /chat/completions is added, such as http://127.0.0.1:8080/v1; absent: chat finds tools by words (offline mode).',
  }),
  model: modelName.optional().meta({ env: 'CHAT_MODEL', doc: 'Model of the chat; needed with model_url.' }),
  models: z
    .array(modelName)
    .max(64)
    .default([])
    .meta({ env: 'CHAT_MODELS', doc: 'Further models of the same endpoint that a request may name.' }),
  api_key: endpointKey
    .optional()
    .meta({ env: 'CHAT_API_KEY', secret: true, doc: 'Key of this site at the endpoint, sent as a bearer token.' }),
  ca_file: z.string().min(1).max(4_096).optional().meta({
    env: 'CHAT_CA_FILE',
    doc: 'Authorities (PEM) for the TLS certificate of the endpoint, instead of the machine’s.',
  }),
  answer_s: z.int().min(1).max(600).default(60).meta({
    doc: 'Seconds until an answer of the model begins, and between two parts of it.',
  }),
  turn_s: z.int().min(1).max(590).default(120).meta({
    doc: 'Seconds from a message to its response, with all requests to the model and all tools.',
  }),
  max_rounds: z.int().min(1).max(32).default(8).meta({
    doc: 'Maximum number of requests to the model for one message; in the last one it may call no tool.',
  }),
  max_tools: z.int().min(0).max(128).default(32).meta({
    doc: 'Maximum number of tools that the model is offered for a message; those that fit its words best.',
  }),
  max_tokens: z.int().min(1).max(131_072).default(2_048).meta({
    doc: 'Maximum number of tokens that the model may write for one answer.',
  }),
  max_answer_bytes: z.int().min(1_024).max(1_048_576).default(65_536).meta({
    doc: 'Maximum size of one answer of the model, and of a response; a larger answer is refused.',
  }),
  max_result_bytes: z.int().min(256).max(1_048_576).default(16_384).meta({
    doc: 'Maximum size of the result of a tool as the model and the response get it; the rest is cut off.',
  }),
  changes: z.enum(['never', 'on_request']).default('on_request').meta({
    doc: 'never: chat calls only tools that read. on_request: tools that change something too, for a request with allow_changes.',
  }),
  keep_days: z.int().min(1).max(365).default(30).meta({
    env: 'CHAT_KEEP_DAYS',
    doc: 'Days after its last message that a conversation is kept; feedback is kept as long.',
  }),
  max_conversations: z.int().min(1).max(10_000).default(100).meta({
    doc: 'Maximum number of conversations of one caller; a further one replaces that with the oldest last message.',
  }),
})
