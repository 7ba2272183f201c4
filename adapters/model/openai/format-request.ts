// The body of a request to `/chat/completions`.
import type { ModelMessage, ModelRequest } from '../../../daemon/kernel/model/chat-model.ts'

/** `max_tokens` is the name that every server knows. */
export function formatRequest(
  { model, messages, tools, mayCallTools, answer_schema }: Omit<ModelRequest, 'signal' | 'trace'>,
  max_tokens: number,
): string {
  return JSON.stringify({
    ...{ model, messages: messages.map(formatMessage), max_tokens, stream: true },
    stream_options: { include_usage: true },
    ...(answer_schema ? { response_format: { type: 'json_schema', json_schema: answer_schema } } : {}),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, input_schema: parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
          tool_choice: mayCallTools ? 'auto' : 'none',
        }),
  })
}

function formatMessage(message: ModelMessage): object {
  const { role, text: content } = message
  if (role === 'tool') return { role, tool_call_id: message.tool_call_id, content }
  if (role !== 'assistant' || !message.tool_calls?.length) return { role, content }
  return {
    ...{ role, content },
    tool_calls: message.tool_calls.map(({ id, name, arguments: given }) => ({
      ...{ id, type: 'function' },
      function: { name, arguments: given },
    })),
  }
}
