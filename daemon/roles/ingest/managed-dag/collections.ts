// The collections of objects that manage DAGs, and which of them has a DAG: by the id of the object, or by the name of the DAG.
import type { Collection } from '../../../kernel/store/store.ts'
import { pipelineId, pipelines } from '../datapipeline/model.ts'
import { dispatchedEffectId, effects } from '../effect/model.ts'
import { isEffectDag } from './dag-names.ts'
import { asManaged, type ManagedDag } from './model.ts'

export const managedCollections: readonly Collection<ManagedDag>[] = [asManaged(pipelines), asManaged(effects)]

/** The kind of an object, by the prefix of its id. */
export function kindOfObject(uid: string): 'datapipeline' | 'effect' {
  return uid.startsWith('ef_') ? 'effect' : 'datapipeline'
}

/** By the prefix of its id. */
export function collectionOfObject(uid: string): Collection<ManagedDag> {
  return kindOfObject(uid) === 'effect' ? asManaged(effects) : asManaged(pipelines)
}

/** By the name of its DAG: `first_id` is the id of the object that has the name first; see `holdName`. */
export function collectionOfDag(tenant_id: string, dag_id: string) {
  return isEffectDag(dag_id)
    ? { collection: asManaged(effects), first_id: dispatchedEffectId(tenant_id, dag_id) }
    : { collection: asManaged(pipelines), first_id: pipelineId(tenant_id, dag_id) }
}
