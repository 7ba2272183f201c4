// Snapshots of graphs: immutable, in parts of bounded size, hourly at first and thinned out with age.
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { documentFields } from '../document-fields.ts'
import { graphEdge, graphIds, graphNode } from './model.ts'

export const snapshotTiers = ['hourly', 'daily', 'weekly'] as const

/** The first part is written last: a snapshot without it does not exist. */
const graphSnapshot = z.strictObject({
  ...documentFields,
  graph_id: z.enum(graphIds),
  snapshot_id: z.string(),
  /** From 0 on; `parts`, counts and digest are those of the whole snapshot, in its part 0 alone. */
  part: z.int().min(0),
  parts: z.int().min(1),
  tier: z.enum(snapshotTiers),
  taken_ts: z.number(),
  /** The newest batch in it. */
  seq: z.int().min(0),
  node_count: z.int().min(0),
  edge_count: z.int().min(0),
  /** Of nodes and edges in the order of their ids. */
  digest: z.string(),
  nodes: z.array(z.strictObject({ id: z.string(), value: graphNode })),
  edges: z.array(z.strictObject({ id: z.string(), value: graphEdge })),
  expires_ts: z.number(),
})
export type GraphSnapshot = z.infer<typeof graphSnapshot>

export const graphSnapshots = collection({
  name: 'guide_graph_snapshot',
  schema: graphSnapshot,
  indexes: ['graph_id', 'snapshot_id', 'part', 'tier', 'taken_ts'],
  orders: [['part', 'taken_ts']],
  documented: {
    alias: 'guide_graph_snapshots',
    fields: { graph_id: 'graph_id', tier: 'tier', taken_ts: 'taken_ts' },
  },
})
