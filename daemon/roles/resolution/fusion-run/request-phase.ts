// Requests a further phase of a run for the caller, who is its principal from then on.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { changeRun } from './change-run.ts'
import { adoptEarlierRun, fusionRuns, type StoredRun } from './model.ts'
import { extendGoal, type PhaseRequest } from './rules.ts'

export async function requestPhase(
  call: Call,
  run_id: string,
  requested: PhaseRequest,
): Promise<Doc<StoredRun> | Refusal> {
  const at = call.nowIso()
  const work = { collection: fusionRuns.name, id: run_id }
  const principal = (await isChange(call, run_id, requested)) ? await call.delegation().store(work) : undefined
  if (isRefusal(principal)) return principal
  return await changeRun(call, run_id, call.address, (run) => {
    const next = extendGoal(run, requested, at, principal)
    const isForNobody = next !== run && !isRefusal(next) && !principal
    return isForNobody ? refuse('conflict', 'the run changed meanwhile: retry') : next
  })
}

/** Whether the request changes the run: no grant, which is recorded, for a request that changes nothing. */
async function isChange(call: Call, run_id: string, requested: PhaseRequest): Promise<boolean> {
  const before = await call.store(fusionRuns).find(run_id)
  if (!before || (call.if_match ?? before.version) !== before.version) return false
  const run = adoptEarlierRun(before.value) as StoredRun
  const next = extendGoal(run, requested, run.updated_at)
  return next !== run && !isRefusal(next)
}
