// Tools named `ask-…` of a tool service: they require input of their client.
import { inputRequired, type ServerContext } from '@modelcontextprotocol/server'

type RequestedInput = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>

/** An answer of a person, of its model, of both, or at a page. */
export function inputOf(name: string): RequestedInput {
  const requestedSchema = { type: 'object' as const, properties: { route: { type: 'string' as const } } }
  const person = inputRequired.elicit({ message: 'Which route?', requestedSchema })
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Name a route.' } }]
  const model = inputRequired.createMessage({ messages, maxTokens: 16 })
  if (name === 'ask-person') return { person }
  if (name === 'ask-model') return { model }
  if (name === 'ask-page')
    return { page: inputRequired.elicitUrl({ message: 'Sign in', url: 'https://maps.example/in' }) }
  return { person, model }
}

/** The answers that came, with the state that was given out for them. */
export function answerWithInput(
  input: Record<string, unknown>,
  inputRequests: RequestedInput,
  { inputResponses, requestState }: Pick<ServerContext['mcpReq'], 'inputResponses' | 'requestState'>,
) {
  if (!inputResponses) return inputRequired({ inputRequests, requestState: JSON.stringify(input) })
  const structuredContent = { state: requestState(), answers: inputResponses }
  return { content: [{ type: 'text' as const, text: 'answered' }], structuredContent }
}
