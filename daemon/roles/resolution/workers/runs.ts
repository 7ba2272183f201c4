// Executes pending runs with a limit of concurrent runs: tenants have turns, and so have the principals of each.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { findFirstDue, ownerOf } from '../../../kernel/store/find-first-due.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { carryOutRun } from '../fusion/carry-out-run.ts'
import { runsTopic } from '../fusion-run/change-run.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { workTurnsPart } from '../parts.ts'
import { settings } from '../settings.ts'
import { runDueWork } from './run-due-work.ts'

export const runsWorker: Worker = { name: 'runs', when: { every_ms: 5_000 }, run }

/** Executes due runs. A failed run is retried in a later run of the worker. */
async function run(call: Call): Promise<void> {
  const { runs_at_once, runs_at_once_per_tenant = runs_at_once } = call.settings(settings)
  const tried = new Set<string>()
  const active = new Map<string, string>()
  await runDueWork(call, runsTopic, async (busy) => {
    for (const id of active.keys()) if (!busy.has(id)) active.delete(id)
    const isFree = ({ id, value }: Doc<StoredRun>) =>
      !tried.has(id) && countTenant(active, value.tenant_id) < runs_at_once_per_tenant
    const due: string[] = []
    while (active.size < runs_at_once) {
      const next = call.part(workTurnsPart).runs.take(await findFirstDue(call.store(fusionRuns), isFree), ownerOf)
      if (!next) break
      tried.add(next.id)
      active.set(next.id, next.value.tenant_id)
      due.push(next.id)
    }
    return due.map((id) => ({ key: id, run: () => tryCarryOut(call, id, tried) }))
  })
}

function countTenant(active: ReadonlyMap<string, string>, tenant_id: string): number {
  return [...active.values()].filter((tenant) => tenant === tenant_id).length
}

async function tryCarryOut(call: Call, id: string, tried: Set<string>): Promise<void> {
  try {
    await carryOutRun(call, id)
    tried.delete(id)
  } catch (error) {
    const { trace_id } = call.trace
    call.log.error('resolution.run.delayed', { trace_id, run: id, error: String(error) })
  }
}
