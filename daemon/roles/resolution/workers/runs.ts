// Executes pending runs, oldest first, with a limit of concurrent runs.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { carryOutRun } from '../fusion/carry-out-run.ts'
import { runsTopic } from '../fusion-run/change-run.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { settings } from '../settings.ts'
import { runDueWork } from './run-due-work.ts'

export const runsWorker: Worker = { name: 'runs', when: { every_ms: 5_000 }, run }

/** Executes due runs. A failed run is retried in a later run of the worker. */
async function run(call: Call): Promise<void> {
  const max_runs = call.settings(settings).runs_at_once
  const tried = new Set<string>()
  await runDueWork(call, runsTopic, async (busy) => {
    const due = await findDueRuns(call, busy, tried, max_runs - busy.size)
    for (const id of due) tried.add(id)
    return due.map((id) => ({ key: id, run: () => tryCarryOut(call, id, tried) }))
  })
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

/** Finds the runs to start, oldest first. */
async function findDueRuns(
  call: Call,
  busy: ReadonlyMap<string, unknown>,
  tried: ReadonlySet<string>,
  max_runs: number,
) {
  if (max_runs <= 0) return []
  const order = { field: 'created_at', direction: 'asc' } as const
  const limit = Math.min(500, busy.size + tried.size + max_runs)
  const due = await call.store(fusionRuns).list({ filter: { owes: 1 }, order, limit, fresh: true })
  const ids = due.docs.map(({ id }) => id).filter((id) => !busy.has(id) && !tried.has(id))
  return ids.slice(0, max_runs)
}
