// Deletes an object with a DAG, its DAG with the runs of it, and its schedule.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { listDagFileNames } from '../../../shared/dag-repository/dag-file-name.ts'
import { dagRepositoryPart } from '../../../shared/dag-repository/dag-repository.ts'
import {
  type CallerScheduler,
  type DagRef,
  workflowSchedulerPart,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { removeSchedule } from '../datapipeline-schedule/change-schedule.ts'
import { removeCursors } from '../read-cursor/hold-cursor.ts'
import { removeMetrics } from '../run-metric/record-metrics.ts'
import { removeWatches } from '../run-watch/watch-run.ts'
import { fileOf } from './dag-file.ts'
import { type ManagedKind, theNoun } from './kind.ts'
import type { ManagedDag } from './model.ts'
import { openManaged } from './open-managed.ts'
import { refuseInStep, stopDeployment } from './redeploy.ts'
import { noteOf } from './use-repository.ts'

export async function removeManaged<T extends ManagedDag>(
  call: Call,
  kind: Pick<ManagedKind<T>, 'noun' | 'collection'>,
  uid: string,
  /** Frees what the object has alone, before it is gone. */
  release?: (value: T) => Promise<void>,
): Promise<{ deleted: true } | Refusal> {
  const { dag_id } = (await openManaged(call, kind.collection, uid)).value
  const dag = { dag_id, pipeline: uid }
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  if (await hasActiveRun(scheduler, dag)) return refuse('wrong_state', 'the DAG has an active run: stop it first')
  const ended = await endDeployment(call, kind, uid)
  if (isRefusal(ended)) return ended
  const { value } = ended
  // Before its runs: a DAG that stays since the repository does not answer must keep them, and how far they have read.
  await removeFiles(call, ended)
  const refused = await scheduler.removeDag(dag)
  if (isRefusal(refused)) return refused
  await release?.(value)
  await call.store(kind.collection).remove(uid, [call.audited(call.address, uid, { dag_id }, value.label)])
  await removeSchedule(call, uid)
  // Those of a run that was triggered meanwhile.
  await removeCursors(call, uid)
  await removeWatches(call, uid)
  await removeMetrics(call, uid)
  return { deleted: true }
}

/** One that waits; refuses one that is in a step. */
async function endDeployment<T extends ManagedDag>(
  call: Call,
  { noun, collection }: Pick<ManagedKind<T>, 'noun' | 'collection'>,
  uid: string,
): Promise<Doc<T> | Refusal> {
  const { doc, answer } = await call.store(collection).update<Refusal | undefined>(uid, ({ value }) => {
    const refused = refuseInStep(value)
    if (refused) return { answer: refused }
    const next = stopDeployment(value, call.nowIso())
    if (!next) return { answer: undefined }
    if (call.if_match === undefined) return { next: next as T, answer: undefined }
    // The end of the deployment is another version, and so is each look for the end of its check.
    return { answer: refuse('wrong_state', `${theNoun({ noun })} is being deployed: delete it without If-Match`) }
  })
  return answer ?? doc
}

async function removeFiles(call: Call, doc: Doc<ManagedDag>): Promise<void> {
  const { dag_id, commit } = doc.value
  try {
    const names = listDagFileNames(fileOf(doc))
    await call.part(dagRepositoryPart).remove(doc.id, names, noteOf(call, `Remove ${dag_id}`))
  } catch (error) {
    // A git host without the live branch has nothing of a DAG that was never live.
    const isNeverLive = isRefusal(error) && error.code === 'wrong_state' && commit === undefined
    if (!isNeverLive) throw error
  }
}

async function hasActiveRun(scheduler: CallerScheduler, dag: DagRef): Promise<boolean> {
  for (const state of ['queued', 'running'] as const) {
    const active = await scheduler.listRuns(dag, { state, limit: 1 })
    // Refused for a DAG that the scheduler does not have.
    if (!isRefusal(active) && active.runs.length > 0) return true
  }
  return false
}
