// The transport of the MCP library over the streams of a process that is not trusted: bounded in bytes, messages and depth, and
// without requests to this client.
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { SandboxStreams } from '../../../daemon/kernel/sandbox/sandbox.ts'
import type { ToolServiceLimits } from '../../../daemon/kernel/tools/tool-service.ts'
import { type MessageTerms, readServiceMessage } from './filter-events.ts'
import { MessageLines } from './message-lines.ts'
import { OutputAllowance } from './output-allowance.ts'

/** A process that closes its output is about to end, and its end says more; one that does not is of no use. */
const end_grace_ms = 3_000

/** Messages that are read in one turn of the event loop. */
const messages_per_turn = 32

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** By these two the library knows a process: it negotiates the revision with it in another way. */
  readonly stderr = null
  readonly pid = null
  /** Of its messages: set before it is connected. */
  terms: MessageTerms = { requests: new Set(), isInputRequirable: () => false }
  readonly #limits: ToolServiceLimits
  readonly #attached = Promise.withResolvers<SandboxStreams>()
  readonly #onFault: (fault: Refusal) => void
  readonly #allowance: OutputAllowance
  #streams: SandboxStreams | undefined
  #fault: Refusal | undefined
  #isClosed = false
  #unsent_bytes = 0

  /** `onFault`: the process is to be ended, since it has broken the protocol or a limit. */
  constructor(limits: ToolServiceLimits, onFault: (fault: Refusal) => void) {
    this.#limits = limits
    this.#onFault = onFault
    this.#allowance = new OutputAllowance(limits.answer_bytes, () => performance.now())
    this.#attached.promise.catch(() => undefined)
  }

  /** Bytes that the process has written so far. */
  get received_bytes(): number {
    return this.#allowance.received_bytes
  }

  /** Why the process cannot be used any more. */
  get fault(): Refusal | undefined {
    return this.#fault
  }

  attach(streams: SandboxStreams): void {
    this.#streams = streams
    this.#attached.resolve(streams)
    void this.#read(streams)
  }

  /** The process has ended, or is to be ended. The first reason counts. */
  fail(fault: Refusal): void {
    this.#fault ??= fault
    this.#attached.reject(this.#fault)
    this.#reportClose()
  }

  /** Waits for the process to be started. */
  async start(): Promise<void> {
    await this.#attached.promise
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#fault) throw this.#fault
    const streams = await this.#attached.promise
    const bytes = Buffer.from(`${JSON.stringify(withTrace(message, options?.headers))}\n`)
    if (this.#unsent_bytes + bytes.length > 2 * this.#limits.answer_bytes)
      throw refuse('unavailable', 'the server does not read what it is sent')
    this.#count(message)
    this.#unsent_bytes += bytes.length
    // Not awaited: a process that reads nothing is found by the time limit of the request.
    void streams.write(bytes).then(() => (this.#unsent_bytes -= bytes.length))
  }

  /** Closes the input of the process, on which it ends by itself. */
  async close(): Promise<void> {
    this.#streams?.endInput()
    this.#reportClose()
  }

  #reportClose(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.onclose?.()
  }

  /** Until the process ends: what comes after a fault is read and dropped, so that its end is not held up. */
  async #read({ stdout }: SandboxStreams): Promise<void> {
    const lines = new MessageLines(this.#limits.answer_bytes)
    let messages = 0
    for await (const chunk of stdout) {
      if (this.#fault) continue
      try {
        this.#allowance.takeBytes(chunk.length)
        for (const line of lines.split(chunk)) {
          const isNotification = this.#receive(line)
          if (this.#fault) break
          messages += 1
          // The library handles a notification later than a response: progress would come after the result.
          if (isNotification || messages % messages_per_turn === 0) await nextTurn()
        }
      } catch (error) {
        this.#breakOff(isRefusal(error) ? error : refuse('unavailable', String(error)))
      }
    }
    await wait(end_grace_ms, undefined, { ref: false })
    if (!this.#fault) this.#breakOff(refuse('unavailable', 'the server has closed its output'))
  }

  #count(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) this.#allowance.addRequest(message.id)
    else if (message.method === 'notifications/cancelled') this.#allowance.cancelRequest(message.params?.requestId)
  }

  #breakOff(fault: Refusal): void {
    this.fail(fault)
    this.#onFault(fault)
  }

  /** Whether it was a notification that the library reads. */
  #receive(line: Buffer): boolean {
    this.#allowance.takeMessage()
    const message = readServiceMessage(line, 'a line of the server', this.#limits.depth, this.terms)
    if (message === undefined) return false
    const isNotification = 'method' in message
    if (!isNotification) this.#allowance.endRequest((message as { id?: unknown }).id)
    this.onmessage?.(message as JSONRPCMessage)
    return isNotification
  }
}

/** A process has no headers: the trace of the caller is in the message itself, under the names of the protocol. */
function withTrace(message: JSONRPCMessage, headers: Readonly<Record<string, string>> | undefined): JSONRPCMessage {
  const traceparent = headers?.traceparent
  if (traceparent === undefined || !('method' in message)) return message
  const { tracestate } = headers ?? {}
  const trace = { traceparent, ...(tracestate === undefined ? {} : { tracestate }) }
  const { _meta, ...params } = (message.params ?? {}) as { readonly _meta?: object }
  return { ...message, params: { ...params, _meta: { ..._meta, ...trace } } } as JSONRPCMessage
}
