// One pipeline for each connection: the connection stores which one, so that of two deployments at once one succeeds.

import { parseJsonAs } from '../../../kernel/encoding/parse-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type AssembledDag, assembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { pipelines, type StoredPipeline } from '../datapipeline/model.ts'
import { connections, type StoredConnection } from './model.ts'
import { listConnections, refuseHidden } from './task-connection.ts'

type ReadingPipeline = { readonly id: string; readonly label: Label }

/** Claims the connection of a DAG for its pipeline. Refuses what another pipeline has, or what it may not read by. */
export async function claimConnection(
  call: Call,
  pipeline: ReadingPipeline,
  dag: AssembledDag,
): Promise<Refusal | undefined> {
  const doc = await findClaimable(call, pipeline, dag)
  if (!doc || isRefusal(doc)) return doc
  const { id } = doc
  const { answer } = await call.store(connections).update<Refusal | undefined>(id, ({ value }) => {
    if (value.pipeline === pipeline.id) return { answer: undefined }
    // Claimed since the look at its holder.
    if (value.pipeline !== doc.value.pipeline) return { answer: refuseHeld(id) }
    return { next: { ...value, pipeline: pipeline.id }, answer: undefined }
  })
  return answer
}

/** The same for a DAG that runs once and is not live: another pipeline may claim the connection afterwards. */
export async function refuseTakenConnection(
  call: Call,
  pipeline: ReadingPipeline,
  dag: AssembledDag,
): Promise<Refusal | undefined> {
  const found = await findClaimable(call, pipeline, dag)
  return isRefusal(found) ? found : undefined
}

/** Undefined for a DAG that reads by none. */
async function findClaimable(
  call: Call,
  pipeline: ReadingPipeline,
  dag: AssembledDag,
): Promise<Doc<StoredConnection> | Refusal | undefined> {
  const [id, second] = listConnections(dag.tasks)
  if (id === undefined) return undefined
  if (second !== undefined) return refuse('invalid', 'a pipeline reads by one connection: deploy one for each')
  const doc = await call.store(connections).find(id)
  const hidden = refuseHidden(call, id, doc, pipeline.label)
  if (hidden || !doc) return hidden
  const holder = await findHolder(call, doc)
  return holder === undefined || holder === pipeline.id ? doc : refuseHeld(id)
}

/** The same before a deployment, as far as the caller sees the holder: the deployment decides. */
export async function refuseTakenContent(
  call: Call,
  content: string,
  isOwn: (holder: Doc<StoredPipeline>) => boolean,
): Promise<Refusal | undefined> {
  for (const id of listContentConnections(content)) {
    const doc = await call.store(connections).find(id)
    const holder = doc?.value.pipeline === undefined ? undefined : await call.store(pipelines).find(doc.value.pipeline)
    if (holder && !isOwn(holder) && reads(holder.value, id)) return refuseHeld(id)
  }
  return undefined
}

/** Those that a pipeline may have claimed. */
export function listHeldConnections({ dag, content }: StoredPipeline): string[] {
  return [...new Set([...(dag ? listConnections(dag.tasks) : []), ...listContentConnections(content)])]
}

function listContentConnections(content: string): string[] {
  const dag = parseJsonAs(assembledDag, content)
  return dag ? listConnections(dag.tasks) : []
}

function refuseHeld(id: string): Refusal {
  return refuse('wrong_state', `another pipeline reads by the connection ${id}: create a connection for this one`)
}

/** Frees the connections that a pipeline had and no longer names. */
export async function freeConnections(call: Call, pipeline: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    if (!(await call.store(connections).find(id))) continue
    await call.store(connections).update(id, ({ value }) => {
      if (value.pipeline !== pipeline) return { answer: undefined }
      const { pipeline: _held, ...next } = value
      return { next, answer: undefined }
    })
  }
}

/** Refuses the deletion of a connection that a pipeline reads by, with the name of its DAG where the caller sees it. */
export async function refuseInUse(call: Call, doc: Doc<StoredConnection>): Promise<Refusal | undefined> {
  const holder = await findHolder(call, doc)
  if (holder === undefined) return undefined
  const name = (await call.store(pipelines).find(holder))?.value.dag_id
  const who = name === undefined ? 'a pipeline that you may not see' : `the pipeline of the DAG ${name}`
  return refuse('wrong_state', `${who} reads by this connection: delete it, or deploy it without the connection`)
}

/** Undefined where nothing holds it: a deployment that was refused may have left its claim. */
async function findHolder(call: Call, { id, value }: Doc<StoredConnection>): Promise<string | undefined> {
  if (value.pipeline === undefined) return undefined
  const holder = await call.store(pipelines).find(value.pipeline)
  // One that the caller may not see; a pipeline frees its connection before it is deleted.
  return holder && !reads(holder.value, id) ? undefined : value.pipeline
}

function reads({ dag, status }: StoredPipeline, id: string): boolean {
  return status === 'pending_validation' || (dag !== undefined && listConnections(dag.tasks).includes(id))
}
