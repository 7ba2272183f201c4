// Ends an operation at its time limit where no listener does: one that other work of the process performs.
import type { Refusal } from '../error/errors.ts'
import { type AnyOperation, timeLimitOf } from './operation.ts'
import type { OperationResponse } from './role-context.ts'
import type { RoleEnvironment } from './role-environment.ts'
import { timeoutRefusal, untilAborted } from './until-aborted.ts'

export type TimedWork = {
  readonly environment: Pick<RoleEnvironment, 'changes' | 'monotonic'>
  readonly operation: AnyOperation
  /** Ends the operation earlier. */
  readonly signal: AbortSignal
}

/** The response; `timeout` at the time limit of the operation, or the refusal that aborted the signal. */
export async function withinTimeLimit(
  { environment, operation, signal }: TimedWork,
  perform: (signal: AbortSignal) => Promise<OperationResponse | Refusal>,
): Promise<OperationResponse | Refusal> {
  const limit = new AbortController()
  const done = new AbortController()
  const ending = AbortSignal.any([signal, limit.signal])
  void abortAfter(environment, timeLimitOf(operation), limit, done.signal)
  try {
    return await untilAborted(ending, perform(ending))
  } finally {
    done.abort(finished)
  }
}

/** A reason that is made once: the default one has a stack, at each call. */
const finished = 'the operation has ended'

async function abortAfter(
  environment: TimedWork['environment'],
  limit_ms: number,
  limit: AbortController,
  done: AbortSignal,
): Promise<void> {
  const until_ms = environment.monotonic() + limit_ms
  for await (const _ of environment.changes('time limits', done, limit_ms))
    if (environment.monotonic() >= until_ms) return limit.abort(timeoutRefusal())
}
