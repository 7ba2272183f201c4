// Takes snapshots of the decision graphs when they are due, and thins out those that have grown old.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { takeSnapshots, thinSnapshots } from '../guide/graph/graph-snapshots.ts'
import { openTurn } from '../guide/graph/turn.ts'
import { observerPart } from '../guide/observation/parts.ts'
import { runGraphTask } from '../guide/observation/run-graph-task.ts'
import { guideSettings } from '../guide/settings.ts'

/** Expired observations are removed with all other expired documents of the role, each minute. */
export const maintainGuidance: Worker = { name: 'maintain-guidance', when: { every_ms: 30_000 }, run }

async function run(call: Call): Promise<void> {
  const settings = call.settings(guideSettings)
  if (!settings.enabled) return
  const observer = call.part(observerPart)
  const slot = Math.floor(call.now() / (settings.graph_snapshot_interval * 1_000))
  if (observer.done.snapshot_slot !== slot) {
    await runGraphTask(call, (worker) => takeSlot(worker, slot))
    observer.done.snapshot_slot = slot
  }
  const round = Math.floor(call.now() / (settings.maintenance_interval * 1_000))
  if (observer.done.maintenance_round === round) return
  const { snapshot_hourly_to_daily_age_days: hourly_days, snapshot_daily_to_weekly_age_days: daily_days } = settings
  await thinSnapshots(call, { hourly_days, daily_days })
  observer.done.maintenance_round = round
}

async function takeSlot(worker: Call, slot: number): Promise<void> {
  const { book, attempt } = worker.part(observerPart)
  const { ingest_worker_concurrency: concurrency } = worker.settings(guideSettings)
  await openTurn(worker, { book, attempt, concurrency })
  await takeSnapshots(worker, book, String(slot))
}
