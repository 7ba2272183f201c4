// Performs work for an exchange until it completes or the run of the exchange ends, as when a person cancels it.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { abortWhenEnded } from '../../abort-when-ended.ts'
import { runTopic } from '../../fusion-run/change-run.ts'
import { fusionRuns, type RunState } from '../../fusion-run/model.ts'
import { isEnded } from '../../fusion-run/rules.ts'
import { runIdOfExchange } from '../model.ts'

/** Another process may end the run without an announcement here. */
const poll_interval_ms = 1_000

/** Returns what `act` returns, or `wrong_state` if the run ends meanwhile. Throws what `act` throws. */
export async function runWhileActive<T>(
  call: Call,
  id: string,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T | Refusal> {
  const endController = new AbortController()
  const stopController = new AbortController()
  const end = {
    topic: runTopic(runIdOfExchange(id)),
    poll_interval_ms,
    hasEnded: async () => (await findEarlyEnd(call, id)) !== undefined,
  }
  const watching = abortWhenEnded(call, end, stopController.signal, endController)
  try {
    return await act(AbortSignal.any([call.signal, endController.signal]))
  } catch (error) {
    if (!endController.signal.aborted || call.signal.aborted) throw error
    return refuse('wrong_state', `its run is ${await findEarlyEnd(call, id)}`)
  } finally {
    stopController.abort()
    await watching
  }
}

/** The state of the run of an exchange that ended before the exchange; undefined while the exchange may go on. */
export async function findEarlyEnd(call: Call, id: string): Promise<RunState | undefined> {
  const run = await call.store(fusionRuns).find(runIdOfExchange(id))
  const isOfExchange = run?.value.exchange_id === id
  return isOfExchange && isEnded(run.value) && run.value.state !== 'completed' ? run.value.state : undefined
}
