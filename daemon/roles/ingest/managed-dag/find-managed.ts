// Finds the object of the site that manages a DAG, among those that the caller sees.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { DagRef } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { collectionOfDag, collectionOfObject, managedCollections } from './collections.ts'
import type { ManagedDag } from './model.ts'

/** By the name of the DAG alone, the first object with it, or else the one that the caller sees. */
export async function findManaged(call: Call, { dag_id, pipeline }: DagRef): Promise<Doc<ManagedDag> | undefined> {
  if (pipeline !== undefined) return await call.store(collectionOfObject(pipeline)).find(pipeline)
  const { collection, first_id } = collectionOfDag(call.caller.tenant_id, dag_id)
  const store = call.store(collection)
  const first = await store.find(first_id)
  if (first) return first
  const { docs } = await store.list({ filter: { dag_id }, limit: 1, fresh: true })
  return docs[0]
}

export async function* iterateManaged(call: Call): AsyncGenerator<Doc<ManagedDag>, void, undefined> {
  for (const collection of managedCollections) yield* iterateDocuments(call.store(collection), { fresh: true })
}
