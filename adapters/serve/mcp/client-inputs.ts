// Requests for input to the client of a session, and its answers, which come with later messages of the session.
import * as z from 'zod'
import {
  type CallContinuation,
  type ClientAbilities,
  clientAbilities,
  type InputRequests,
  max_input_wait_ms,
  noAbilities,
} from '../../../daemon/kernel/tools/client-input.ts'
import type { UntrustedObject } from '../../../daemon/kernel/tools/tool-service.ts'
import type { ClientMessage } from './call-events.ts'

/** Of all calls of a session that wait at once. */
const max_waiting = 64

const response = z.object({
  id: z.string().max(64),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({}).optional(),
})

/** The answer of a client: undefined where it does not give the input. */
type ClientAnswer = UntrustedObject | undefined

/** Abilities as a client states them; none where it states them otherwise than the protocol does. */
export function readAbilities(stated: unknown): ClientAbilities {
  const read = clientAbilities.safeParse(stated)
  return read.success ? read.data : noAbilities
}

/** A message without a method answers a request. */
export function isAnswer(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !('method' in body) && 'id' in body
}

export class ClientInputs {
  readonly #waiting = new Map<string, (answer: ClientAnswer) => void>()
  #requested = 0

  /** False for a message that answers no request that waits. */
  answer(body: unknown): boolean {
    const read = response.safeParse(body)
    const give = read.success ? this.#waiting.get(read.data.id) : undefined
    if (!read.success || !give) return false
    give(read.data.error ? undefined : read.data.result)
    return true
  }

  /** Sends the requests and collects the input, without that which does not come before the end of the signal, or in time. */
  async collect(
    requests: InputRequests,
    send: (message: ClientMessage) => void,
    cancelled: AbortSignal,
  ): Promise<Omit<CallContinuation, 'state'>> {
    const answers = await Promise.all(
      Object.entries(requests).map(async ([key, { method, params }]) => {
        if (cancelled.aborted || this.#waiting.size >= max_waiting) return [key, undefined] as const
        const { id, answer } = this.#expect(cancelled)
        send({ jsonrpc: '2.0', id, method, params: nameElicitation(id, params) })
        return [key, await answer] as const
      }),
    )
    const given = answers.filter((entry): entry is readonly [string, UntrustedObject] => entry[1] !== undefined)
    const refused = answers.filter(([, answer]) => answer === undefined).map(([key]) => key)
    return { responses: Object.fromEntries(given), refused }
  }

  #expect(cancelled: AbortSignal): { readonly id: string; readonly answer: Promise<ClientAnswer> } {
    this.#requested += 1
    const id = `input-${this.#requested}`
    const { promise, resolve } = Promise.withResolvers<ClientAnswer>()
    const giveUp = () => resolve(undefined)
    this.#waiting.set(id, resolve)
    const limit = setTimeout(giveUp, max_input_wait_ms).unref()
    cancelled.addEventListener('abort', giveUp)
    const answer = promise.finally(() => {
      clearTimeout(limit)
      cancelled.removeEventListener('abort', giveUp)
      this.#waiting.delete(id)
    })
    return { id, answer }
  }
}

/** Revisions with sessions require a name of each visit to a page. */
function nameElicitation(elicitationId: string, params: UntrustedObject): UntrustedObject {
  return params.mode === 'url' ? { elicitationId, ...params } : params
}
