// Plans a migration in two phases: which connections and pipelines are copied, and which pipelines are switched.
import { parseJson } from '../../daemon/kernel/encoding/parse-json.ts'
import type { FormerConnection, FormerPipeline } from './former-service.ts'

/** What this site has already. */
export type PresentObjects = {
  readonly connections: readonly { readonly uid: string; readonly name: string; readonly conn_type: string }[]
  readonly pipelines: readonly PresentPipeline[]
}
export type PresentPipeline = { readonly uid: string; readonly dag_id: string; readonly status: string }

export type ConnectionStep =
  | { readonly kind: 'create'; readonly from: FormerConnection }
  | { readonly kind: 'present'; readonly from: FormerConnection; readonly uid: string }

export type PipelineStep =
  | { readonly kind: 'deploy'; readonly from: FormerPipeline }
  | { readonly kind: 'present'; readonly from: FormerPipeline; readonly present: PresentPipeline }

export type CopyPlan = { readonly connections: readonly ConnectionStep[]; readonly pipelines: readonly PipelineStep[] }

/** A connection is the same by name and type, a pipeline by its DAG. */
export function planCopy(
  former: { readonly connections: readonly FormerConnection[]; readonly pipelines: readonly FormerPipeline[] },
  present: PresentObjects,
): CopyPlan {
  return {
    connections: former.connections.map((from): ConnectionStep => {
      const same = present.connections.find(({ name, conn_type }) => name === from.name && conn_type === from.conn_type)
      return same ? { kind: 'present', from, uid: same.uid } : { kind: 'create', from }
    }),
    pipelines: former.pipelines.map((from): PipelineStep => {
      const same = present.pipelines.find(({ dag_id }) => dag_id === from.dag_id)
      return same ? { kind: 'present', from, present: same } : { kind: 'deploy', from }
    }),
  }
}

/**
 * The content with the connections of this site. A uid may be anywhere in the parameters of a task, and in the text of a DAG in Python: one of
 * the former service is an id that occurs in nothing else.
 */
export function replaceConnections(content: string, uidOf: ReadonlyMap<string, string>): string {
  let replaced = content
  for (const [former, uid] of uidOf) replaced = replaced.replaceAll(former, uid)
  return replaced
}

/** Connections that the content names and that this site does not have. */
export function findMissingConnections(content: string, uidOf: ReadonlyMap<string, string>): string[] {
  const parsed = parseJson(content) as { readonly tasks?: readonly { readonly params?: object }[] } | undefined
  const named = (parsed?.tasks ?? []).flatMap(({ params }) => {
    const id = params && 'connection_id' in params ? params.connection_id : undefined
    return typeof id === 'string' ? [id] : []
  })
  return named.filter((id) => !uidOf.has(id))
}

export type SwitchStep = {
  readonly from: FormerPipeline
  /** `done`: it is paused there, and not here. `unclear`: paused at both, as before or by a switch that was interrupted. */
  readonly kind: 'switch' | 'done' | 'absent' | 'unclear' | 'rejected'
  readonly present?: PresentPipeline
}

export function planSwitch(
  pipelines: readonly FormerPipeline[],
  present: readonly PresentPipeline[],
): readonly SwitchStep[] {
  return pipelines.map((from): SwitchStep => {
    const here = present.find(({ dag_id }) => dag_id === from.dag_id)
    if (!here) return { from, kind: 'absent' }
    if (here.status === 'rejected' || here.status === 'error') return { from, kind: 'rejected', present: here }
    const isActive = from.status !== 'paused'
    if (here.status === 'paused') return { from, kind: isActive ? 'switch' : 'unclear', present: here }
    return { from, kind: isActive ? 'switch' : 'done', present: here }
  })
}
