// Does something for an exchange only as long as it is wanted: who cancels it, or its run, must not wait for work to end.
import type { Call } from '../../../../kernel/operation/call.ts'
import { fusionRuns } from '../../fusion-run/model.ts'
import { isEnded } from '../../fusion-run/rules.ts'
import { exchangeTopic } from '../change-exchange.ts'
import { exchanges, isOver, runIdOfExchange } from '../model.ts'
import type { ExchangeStepOutcome } from './perform-step.ts'

/** A run that is ended is seen by this, an exchange that is over at once. */
const poll_interval_ms = 1_000

/** What `act` gives, or `moved` where it was ended because nobody wants it. Throws what it throws. */
export async function runWhileActive<T>(
  call: Call,
  id: string,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T | Extract<ExchangeStepOutcome, 'moved'>> {
  const unwanted = new AbortController()
  const through = new AbortController()
  const watching = watchExchange(call, id, through.signal, unwanted)
  try {
    return await act(AbortSignal.any([call.signal, unwanted.signal]))
  } catch (error) {
    if (unwanted.signal.aborted && !call.signal.aborted) return 'moved'
    throw error
  } finally {
    through.abort()
    await watching
  }
}

async function watchExchange(call: Call, id: string, through: AbortSignal, unwanted: AbortController): Promise<void> {
  for await (const _ of call.changes(exchangeTopic(id), through, poll_interval_ms)) {
    const doc = await call.store(exchanges).find(id)
    const run = await call.store(fusionRuns).find(runIdOfExchange(id))
    const isOf = run?.value.exchange_id === id && run.value.state !== 'completed'
    if (!doc || isOver(doc.value) || (isOf && isEnded(run.value))) unwanted.abort()
  }
}
