// Ends the wait for a request whose work may ignore its abort.
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'

/** The refusal with which a request ended: of the abort, or `timeout` where it gives none. */
export function abortRefusal({ reason }: AbortSignal): Refusal {
  return isRefusal(reason) ? reason : timeoutRefusal()
}

export const timeoutRefusal = (): Refusal => refuse('timeout', 'the operation took too long and was given up')

/** The outcome, or the refusal of the abort that came first. */
export async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | Refusal> {
  const ended = Promise.withResolvers<Refusal>()
  const end = () => ended.resolve(abortRefusal(signal))
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([work, ended.promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}
