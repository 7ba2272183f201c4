// Works on the runs that have something to do, the oldest first, a few at a time.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { carryOutRun } from '../fusion-run/carry-out-run.ts'
import { runsTopic } from '../fusion-run/change-run.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { settings } from '../settings.ts'

export const runsWorker: Worker = { name: 'runs', when: { every_ms: 5_000 }, run }

const poll_interval_ms = 1_000

/** Ends when nothing is left to do but what failed just now, which comes again with the next time. */
async function run(call: Call): Promise<void> {
  const most = call.settings(settings).runs_at_once
  const busy = new Map<string, Promise<void>>()
  const tried = new Set<string>()
  for await (const _ of call.changes(runsTopic, call.signal, poll_interval_ms)) {
    for (const id of await findDueRuns(call, busy, tried, most - busy.size)) {
      tried.add(id)
      const work = tryCarryOut(call, id, tried).finally(() => {
        busy.delete(id)
        call.announce(runsTopic)
      })
      busy.set(id, work)
    }
    if (busy.size === 0) break
  }
  await Promise.all(busy.values())
}

async function tryCarryOut(call: Call, id: string, tried: Set<string>): Promise<void> {
  try {
    await carryOutRun(call, id)
    tried.delete(id)
  } catch (error) {
    const { trace_id } = call.trace
    call.log.error('resolution.run.held-up', { trace_id, run: id, error: String(error) })
  }
}

/** Ids of runs to begin, the oldest first. */
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
