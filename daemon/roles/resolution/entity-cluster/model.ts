// A cluster: the records of one entity, under an id that stays the same between runs.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { unloggedEntityChange } from '../entity-change/model.ts'
import { count, instant, lensVersionFields, type RecordRef, recordRef, shortText, uid } from '../fields.ts'

/** `merged`: an id without records; its lineage names the entities with its former records. `deleted`: its records are in no entity. */
export const clusterState = z.enum(['live', 'merged', 'deleted'])

const removal = z.strictObject({ at: instant, by: shortText, reason: z.string() })
export type Removal = z.infer<typeof removal>

const clusterFields = {
  ...lensVersionFields,
  run_id: uid.meta({ description: 'The latest run with this cluster' }),
  state: clusterState,
  members: z.array(recordRef),
  former: z.array(recordRef).optional().meta({ description: 'The last records of a merged or deleted entity' }),
  size: count,
  lineage: z.strictObject({
    merged_from: z.array(uid).meta({ description: 'Entities merged into this one' }),
    split_from: uid.optional().meta({ description: 'The entity that this one was part of' }),
    merged_into: z.array(uid).optional().meta({ description: 'Entities that now have the records of a merged entity' }),
  }),
  deleted: removal.optional().meta({ description: 'When the entity was deleted, by whom and why' }),
  forgotten: removal.optional().meta({ description: 'When its records were forgotten, by whom and why' }),
  created_at: instant,
  updated_at: instant,
}

const storedCluster = z.strictObject({
  tenant_id: z.string(),
  label,
  ...clusterFields,
  /** 1 while records have not left the deleted entity; an index. */
  removing: z.literal(1).optional(),
  /** Number of its changes so far. */
  changes: z.int().min(1).optional(),
  /** Changes that are not in the log yet. */
  unlogged_changes: z.array(unloggedEntityChange).optional(),
  /** 1 while there are such changes; an index. */
  unlogged: z.literal(1).optional(),
  /** Writes that only moved its changes to the log; they do not count in the version that callers see. */
  log_writes: count.optional(),
})
export type StoredCluster = z.infer<typeof storedCluster>

export const entityClusters = collection({
  name: 'entity_cluster',
  schema: storedCluster,
  documented: { alias: 'fusion', fields: { uid: 'id', run_id: 'run_id' } },
  indexes: ['lens', 'lens_id', 'entity_type', 'run_id', 'state', 'size', 'removing', 'unlogged', 'created_at'],
  revision: shownVersion,
})

/**
 * Derives an id from the first member. `first`: the first member in the order of references. `turn`: above 0 if
 * another entity uses the id, for example after a split.
 */
export function clusterUid(tenant_id: string, lens: string, first: RecordRef, turn = 0): string {
  const parts = [tenant_id, lens, first.node_id, first.record_id, ...(turn === 0 ? [] : [turn])]
  return `ent_${sha256(JSON.stringify(parts)).slice(0, 32)}`
}

export const clusterView = z
  .strictObject({ uid, version: z.int().min(1), tenant_id: z.string(), classification: label, ...clusterFields })
  .meta({ id: 'EntityCluster' })
export type ClusterView = z.infer<typeof clusterView>

export const clusterSummary = z.strictObject({ uid, run_id: uid, size: count }).meta({ id: 'EntityClusterSummary' })

function shownVersion({ log_writes = 0 }: StoredCluster, version: number): number {
  return version - log_writes
}

export function showCluster({ id, version, value }: Doc<StoredCluster>): ClusterView {
  const {
    label: classification,
    removing: _removing,
    changes: _changes,
    unlogged_changes: _unlogged_changes,
    unlogged: _unlogged,
    log_writes: _written,
    ...rest
  } = value
  return { uid: id, version: shownVersion(value, version), classification, ...rest }
}

export function summariseCluster({ id, value: { run_id, size } }: Doc<StoredCluster>): z.infer<typeof clusterSummary> {
  return { uid: id, run_id, size }
}

/** Topic: the records of a deleted entity have left it. */
export function clusterTopic(id: string): string {
  return `resolution.entity-cluster/${id}`
}
