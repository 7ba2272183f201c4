// Deletes an object with a DAG, its DAG with the runs of it, and its schedule.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { listDagFileNames } from '../../../shared/dag-repository/dag-file-name.ts'
import { dagRepositoryPart } from '../../../shared/dag-repository/dag-repository.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { removeSchedule } from '../datapipeline-schedule/change-schedule.ts'
import { type ManagedKind, theNoun } from './kind.ts'
import type { ManagedDag } from './model.ts'
import { openManaged } from './open-managed.ts'
import { isBeingChecked } from './redeploy.ts'
import { noteOf } from './use-repository.ts'

export async function removeManaged<T extends ManagedDag>(
  call: Call,
  kind: Pick<ManagedKind<T>, 'noun' | 'collection'>,
  uid: string,
  /** Frees what the object has alone, before it is gone. */
  release?: (value: T) => Promise<void>,
): Promise<{ deleted: true } | Refusal> {
  const { value } = await openManaged(call, kind.collection, uid)
  if (isBeingChecked(value))
    return refuse('wrong_state', `${theNoun(kind)} is being deployed: wait for the end of its check`)
  const refused = await call.part(workflowSchedulerPart).actFor(call).removeDag({ dag_id: value.dag_id, pipeline: uid })
  if (isRefusal(refused)) return refused
  const names = listDagFileNames({ uid, dag_id: value.dag_id })
  await call.part(dagRepositoryPart).remove(uid, names, noteOf(call, `Remove ${value.dag_id}`))
  await release?.(value)
  await call
    .store(kind.collection)
    .remove(uid, [call.audited(call.address, uid, { dag_id: value.dag_id }, value.label)])
  await removeSchedule(call, uid)
  return { deleted: true }
}
