// Runs work on memories and graphs in the turn of this process, by the worker, and waits for its result.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { untilAborted } from '../../../../kernel/operation/until-aborted.ts'
import { guideSettings } from '../settings.ts'
import { ingest_worker } from './observe.ts'
import { observerPart } from './parts.ts'

/** `run` gets the call of the worker: with it the documents of all tenants can be written, so it must check nothing by it. */
export async function runGraphTask<T>(call: Call, run: (worker: Call) => Promise<T>): Promise<T | Refusal> {
  if (!call.settings(guideSettings).enabled)
    return refuse('forbidden', 'the guidance layer of this site is off (guide.enabled): it changes nothing')
  const result = new Promise<T>((resolve, reject) => {
    call.part(observerPart).tasks.push(async (worker) => {
      // A caller that has had its answer must find nothing changed after it.
      if (call.signal.aborted) return reject(call.signal.reason)
      await run(worker).then(resolve, (error) => {
        // The copy in memory may be ahead of the store, or behind it.
        worker.part(observerPart).book.clear(worker.now())
        reject(error)
      })
    })
  })
  call.wake(ingest_worker)
  // A process that stops performs no more of them.
  return await untilAborted(call.signal, result)
}
