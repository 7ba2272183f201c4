// One call of a tool, which a service of a revision with sessions keeps open while it waits for input of the client: the call
// then goes on with the next one that brings the input.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import {
  type CallContinuation,
  type ClientAbilities,
  findUnsupported,
  type HeldCall,
  type InputRequest,
  InputRequiredResult,
  inputRequest,
  max_input_wait_ms,
  max_inputs_at_once,
  max_inputs_of_call,
} from '../../../daemon/kernel/tools/client-input.ts'
import type { RemoteToolCall, RemoteToolOutcome, UntrustedObject } from '../../../daemon/kernel/tools/tool-service.ts'

/** The call to which a message of a service belongs, on whose stream it came. */
export const callOfMessage = new AsyncLocalStorage<RunningCall>()

/** As a client reports that it does not give the input. */
const client_refusal = -1

type WaitingInput = {
  readonly request: InputRequest
  readonly give: (response: UntrustedObject) => void
  readonly refuse: (error: Error) => void
}

export class RunningCall implements HeldCall {
  readonly ended: Promise<void>
  readonly #service: string
  readonly #abilities: ClientAbilities
  readonly #result: Promise<RemoteToolOutcome>
  readonly #ending = new AbortController()
  readonly #inputs = new Map<string, WaitingInput>()
  #inputs_requested = 0
  #hasEnded = false
  #leg = Promise.withResolvers<RemoteToolOutcome>()
  #onProgress: RemoteToolCall['onProgress']
  #patience: NodeJS.Timeout | undefined

  /** `send`: performs the call until its result; `signal` ends it. */
  constructor(service: string, abilities: ClientAbilities, send: (running: RunningCall) => Promise<RemoteToolOutcome>) {
    this.#service = service
    this.#abilities = abilities
    this.#result = callOfMessage.run(this, () => send(this))
    const ended = () => {
      this.#hasEnded = true
      // The timer would keep the result for as long as the patience lasts.
      clearTimeout(this.#patience)
      this.#refuseInputs('the call has ended')
    }
    this.ended = this.#result.then(ended, ended)
  }

  get signal(): AbortSignal {
    return this.#ending.signal
  }

  report(progress: Parameters<NonNullable<RemoteToolCall['onProgress']>>[0]): void {
    this.#onProgress?.(progress)
  }

  /** Runs until the result, or until the service requests more input. The time in which it waits for input does not count. */
  async run({ timeout_ms, cancelled, continuation, onProgress }: RemoteToolCall): Promise<RemoteToolOutcome> {
    clearTimeout(this.#patience)
    this.#onProgress = onProgress
    const leg = Promise.withResolvers<RemoteToolOutcome>()
    this.#leg = leg
    this.#result.then(leg.resolve, leg.reject)
    this.#give(continuation)
    if (this.#inputs.size > 0) leg.resolve(this.#requireInput())
    const late = () => this.#end(refuse('timeout', `${this.#service} did not answer within ${timeout_ms} ms`))
    const limit = setTimeout(late, timeout_ms)
    const cancel = () => this.#end(refuse('timeout', 'the call was cancelled by its caller'))
    if (cancelled?.aborted) cancel()
    cancelled?.addEventListener('abort', cancel)
    try {
      return await leg.promise
    } finally {
      clearTimeout(limit)
      cancelled?.removeEventListener('abort', cancel)
      this.#onProgress = undefined
    }
  }

  /** Resolves with the answer of the client. Throws the error that answers the service where no client takes the request. */
  async requestInput(sent: unknown, cancelled: AbortSignal): Promise<UntrustedObject> {
    const parsed = inputRequest.safeParse(sent)
    if (!parsed.success) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'the request is not a valid one')
    const { data: request } = parsed
    // A stream may go on after the result.
    if (this.#hasEnded) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'the call has ended')
    this.#inputs_requested += 1
    const key = `input-${this.#inputs_requested}`
    if (findUnsupported({ [key]: request }, this.#abilities) !== undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `the client of this call does not take ${request.method}`,
      )
    if (this.#inputs_requested > max_inputs_of_call || this.#inputs.size >= max_inputs_at_once)
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'the call has requested too much input')
    const { promise, resolve: give, reject } = Promise.withResolvers<UntrustedObject>()
    this.#inputs.set(key, { request, give, refuse: reject })
    const forget = () => {
      this.#inputs.delete(key)
      reject(new ProtocolError(client_refusal, 'the request was cancelled'))
    }
    cancelled.addEventListener('abort', forget)
    this.#leg.resolve(this.#requireInput())
    try {
      return await promise
    } finally {
      this.#inputs.delete(key)
      cancelled.removeEventListener('abort', forget)
    }
  }

  end(): void {
    this.#end(refuse('timeout', 'the call waited for input that did not come'))
  }

  #end(cause: Refusal): void {
    clearTimeout(this.#patience)
    this.#ending.abort(cause)
    this.#leg.reject(cause)
    this.#refuseInputs('the call was cancelled')
  }

  #requireInput(): InputRequiredResult {
    clearTimeout(this.#patience)
    this.#patience = setTimeout(() => this.end(), max_input_wait_ms).unref()
    const requests = Object.fromEntries([...this.#inputs].map(([key, { request }]) => [key, request]))
    return new InputRequiredResult(requests, undefined, this)
  }

  #give(continuation: CallContinuation | undefined): void {
    for (const [key, response] of Object.entries(continuation?.responses ?? {})) {
      this.#inputs.get(key)?.give(response)
      this.#inputs.delete(key)
    }
    for (const key of continuation?.refused ?? []) this.#refuseInput(key, 'the client did not give the input')
  }

  #refuseInputs(reason: string): void {
    for (const key of [...this.#inputs.keys()]) this.#refuseInput(key, reason)
  }

  #refuseInput(key: string, reason: string): void {
    this.#inputs.get(key)?.refuse(new ProtocolError(client_refusal, reason))
    this.#inputs.delete(key)
  }
}
