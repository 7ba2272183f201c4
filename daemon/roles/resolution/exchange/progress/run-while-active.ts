// Performs work for an exchange until it completes or the exchange or its run ends; a cancellation aborts the work.
import type { Call } from '../../../../kernel/operation/call.ts'
import { abortWhenEnded } from '../../abort-when-ended.ts'
import { fusionRuns } from '../../fusion-run/model.ts'
import { isEnded } from '../../fusion-run/rules.ts'
import { exchangeTopic } from '../change-exchange.ts'
import { exchanges, isOver, runIdOfExchange } from '../model.ts'
import type { ExchangeStepOutcome } from './perform-step.ts'

/** Polling detects the end of a run; the end of an exchange is announced. */
const poll_interval_ms = 1_000

/** Returns what `act` returns, or `moved` if the exchange ends meanwhile. Throws what `act` throws. */
export async function runWhileActive<T>(
  call: Call,
  id: string,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T | Extract<ExchangeStepOutcome, 'moved'>> {
  const endController = new AbortController()
  const stopController = new AbortController()
  const end = { topic: exchangeTopic(id), poll_interval_ms, hasEnded: () => hasExchangeEnded(call, id) }
  const watching = abortWhenEnded(call, end, stopController.signal, endController)
  try {
    return await act(AbortSignal.any([call.signal, endController.signal]))
  } catch (error) {
    if (endController.signal.aborted && !call.signal.aborted) return 'moved'
    throw error
  } finally {
    stopController.abort()
    await watching
  }
}

async function hasExchangeEnded(call: Call, id: string): Promise<boolean> {
  const doc = await call.store(exchanges).find(id)
  const run = await call.store(fusionRuns).find(runIdOfExchange(id))
  const isOwnRun = run?.value.exchange_id === id && run.value.state !== 'completed'
  return !doc || isOver(doc.value) || (isOwnRun && isEnded(run.value))
}
