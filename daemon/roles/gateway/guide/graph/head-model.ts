// The head of the graphs: the one batch that is being stored and applied, so that a crash at any point leaves it whole.
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import type { StoredObservation } from '../observation/model.ts'
import type { GraphId } from './model.ts'
import type { EdgeDelta, GraphScope, NodeDelta } from './rules.ts'

/** A batch of observations, and what they add to the graphs; or a graph that becomes that of a snapshot. */
export type GraphWork =
  | {
      readonly kind: 'observations'
      readonly observations: readonly { readonly id: string; readonly value: StoredObservation }[]
      readonly nodes: readonly NodeDelta[]
      readonly edges: readonly EdgeDelta[]
    }
  | {
      readonly kind: 'rollback'
      readonly scope: GraphScope
      readonly graph_id: GraphId
      readonly snapshot_id: string
    }

export const head_id = 'head'

/**
 * One document for the store: the process that replaces it holds the turn. `open`: its work is to be done, by any process, and as
 * often as it is begun; no other work is begun before. `done`: the work is empty.
 */
export const graphHeads = collection({
  name: 'guide_graph_head',
  schema: z.strictObject({
    tenant_id: z.string(),
    seq: z.int().min(0),
    state: z.enum(['open', 'done']),
    /** Of the process that began it. */
    attempt: z.string(),
    opened_ts: z.number(),
    work: z.custom<GraphWork>().nullable(),
  }),
  indexes: ['state'],
})
export type GraphHead = { readonly seq: number; readonly state: 'open' | 'done'; readonly work: GraphWork | null }
