// The step of a deployment that triggers a first run, once the scheduler has the DAG.
import type { JobCall } from '../../../kernel/job/job.ts'
import { completeStep, endJob, releaseJob } from '../../../kernel/job/rules.ts'
import type { Collection, Doc } from '../../../kernel/store/store.ts'
import { faultPointPart } from '../parts.ts'
import { attemptFirstRun } from './auto-start.ts'
import { changeOf, endWithFault } from './end-deployment.ts'
import type { AutoStart, ManagedDag } from './model.ts'

/** The object is active meanwhile: its content was accepted. */
export async function startFirstRun(
  call: JobCall,
  collection: Collection<ManagedDag>,
  doc: Doc<ManagedDag>,
  attempt: AutoStart,
): Promise<undefined> {
  const pass = call.part(faultPointPart)
  const outcome = await attemptFirstRun(call, doc, attempt)
  if (outcome === 'started') pass('ingest-deploy-triggered')
  const at = call.nowIso()
  const over = { proposal: undefined, updated_at: at }
  const change = changeOf(call, collection, doc.id)
  await change((stored) => {
    if (outcome === 'started') return endJob(stored, 'completed', { status: 'active', auto_start: undefined, ...over })
    if ('fault' in outcome) return endWithFault(stored, 'error', { reason: outcome.fault }, at)
    const waiting = { ...stored, status: 'active' as const, auto_start: outcome.wait, ...over }
    return releaseJob(completeStep(waiting), call.now() + outcome.wait_ms)
  })
  if (outcome === 'started') pass('ingest-deploy-ended')
  return undefined
}
