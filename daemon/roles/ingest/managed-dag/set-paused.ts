// Pauses or resumes the DAG of an object at the scheduler.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { type ManagedKind, theNoun } from './kind.ts'
import { isLive, type ManagedDag } from './model.ts'
import { openManaged } from './open-managed.ts'

export async function setPaused<T extends ManagedDag>(
  call: Call,
  kind: Pick<ManagedKind<T>, 'collection' | 'noun'>,
  uid: string,
  isPaused: boolean,
): Promise<Doc<T> | Refusal> {
  const { value } = await openManaged(call, kind.collection, uid)
  if (!isLive(value)) return refuseWithoutDag(kind, value)
  const dag = await call
    .part(workflowSchedulerPart)
    .actFor(call)
    .setPaused({ dag_id: value.dag_id, pipeline: uid }, isPaused)
  if (isRefusal(dag)) return dag
  const { doc } = await call.store(kind.collection).update(uid, (stored) => {
    if (stored.value.is_paused === isPaused) return { answer: undefined }
    const audit = [call.audited(call.address, uid, { is_paused: isPaused }, stored.value.label)]
    return { next: { ...stored.value, is_paused: isPaused, updated_at: call.nowIso() }, answer: undefined, audit }
  })
  return doc
}

export function refuseWithoutDag(kind: Pick<ManagedKind, 'noun'>, { status }: ManagedDag): Refusal {
  return refuse('wrong_state', `${theNoun(kind)} is ${status}: its DAG is not live`)
}
