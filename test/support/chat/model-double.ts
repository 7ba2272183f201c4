// A double of the protocol of OpenAI-compatible endpoints, and not a model: it answers each request by the script of a test.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type RecordedPrompt = {
  readonly headers: IncomingHttpHeaders
  readonly body: {
    readonly model: string
    readonly messages: readonly { role: string; content: string; tool_call_id?: string; tool_calls?: unknown[] }[]
    readonly tools?: readonly { function: { name: string; description: string } }[]
    readonly tool_choice?: string
  }
}

/** Answers one request; `closed` resolves when the connection has ended. */
export type ModelScript = (response: ServerResponse, closed: Promise<unknown>) => void | Promise<void>

export type ModelDouble = {
  /** Base URL, as an operator writes it. */
  readonly url: string
  readonly prompts: RecordedPrompt[]
  /** The next requests are answered by these, and all further ones by the last. */
  answerBy(...scripts: ModelScript[]): void
  close(): Promise<void>
}

/** `isScripted`: all other requests are answered by a word, and use no script up. */
export async function startModelDouble(
  isScripted: (body: RecordedPrompt['body']) => boolean = () => true,
): Promise<ModelDouble> {
  const prompts: RecordedPrompt[] = []
  let scripts: ModelScript[] = [sayText('hello')]
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as RecordedPrompt['body']
    prompts.push({ headers: request.headers, body })
    const [script = sayText('hello')] = isScripted(body) ? scripts : []
    if (isScripted(body) && scripts.length > 1) scripts = scripts.slice(1)
    await script(response, once(response, 'close'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    prompts,
    answerBy(...next) {
      scripts = next
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Each event as its own piece on the wire, with the events before and after that servers send. */
export function sendEvents(...events: readonly unknown[]): ModelScript {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': ping\n\n')
    for (const event of events)
      response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\r\n\r\n`)
    response.end()
  }
}

const part = (delta: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason }] })
const usage = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }

/** An answer of text, word by word. */
export function sayText(text: string): ModelScript {
  const words = text.split(/(?<= )/)
  return sendEvents(
    part({ role: 'assistant', content: '' }),
    ...words.map((content) => part({ content })),
    part({}, 'stop'),
    usage,
    '[DONE]',
  )
}

export type ScriptedToolCall = { readonly name?: string | undefined; readonly arguments?: string; readonly id?: string }

/** A request of tools, each with its arguments in two pieces. */
export function requestTools(...calls: readonly ScriptedToolCall[]): ModelScript {
  const pieces = calls.flatMap(({ name, arguments: text = '{}', id = `call_${name}` }, index) => [
    part({
      tool_calls: [
        {
          index,
          id,
          type: 'function',
          function: { ...(name === undefined ? {} : { name }), arguments: text.slice(0, 3) },
        },
      ],
    }),
    part({ tool_calls: [{ index, function: { arguments: text.slice(3) } }] }),
  ])
  return sendEvents(...pieces, part({}, 'tool_calls'), usage, '[DONE]')
}
