// The records that a request names for a run: by node, inline, as a data file of the site, or as the dataset of a pipeline.
import * as z from 'zod'
import { type TaskDataset, taskDataset } from '../../../shared/task-dataset/task-dataset.ts'
import type { RunSource } from './run-source.ts'

const nodeId = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')

const nodeValue = z.union([z.string().max(65_536), z.number(), z.boolean(), z.null()])

export const nodeRecord = z.record(z.string().min(1).max(256), nodeValue)
export type NodeRecord = z.infer<typeof nodeRecord>

/** File name relative to the tenant's folder. No part begins with a dot, so that the name cannot leave the folder. */
export const dataFile = z
  .string()
  .max(512)
  .regex(
    /^[\p{L}\p{N}_-][\p{L}\p{N}_. -]*(\/[\p{L}\p{N}_-][\p{L}\p{N}_. -]*)*$/u,
    'must be the relative name of a data file: parts of letters, digits, _, -, dot and space, joined by /',
  )

const recordForms = [z.array(nodeRecord).min(1), z.strictObject({ file: dataFile })] as const

/** The records of a node that this site gives to an exchange. */
export const nodeRecords = z.union(recordForms)
export type NodeRecords = z.infer<typeof nodeRecords>

const max_nodes = 64

/** Limit of a request with inline records, which occupies the event loop for 20 ms at most; a data file has no such limit. */
export const inlineRecordLimits = { max_body_values: 30_000 }

export const nodeData = z
  .record(nodeId, z.union([...recordForms, taskDataset]))
  .refine((nodes) => Object.keys(nodes).length > 0, 'must name at least one node')
  .refine((nodes) => Object.keys(nodes).length <= max_nodes, `must not have more than ${max_nodes} nodes`)
  .meta({
    id: 'NodeData',
    description:
      'Records of each node; or {file}: the name of a data file in the tenant’s folder at the site; or the dataset that a task of a pipeline has made',
  })
export type NodeData = z.infer<typeof nodeData>

/** A source of a run, as a request names it. */
export type RequestedSource = Pick<RunSource, 'node_id' | 'file'> & { readonly requested?: TaskDataset }

/** Sorts nodes by name, so that the order of a request does not matter. `inline`: by position in that order. */
export function splitNodeData(data: NodeData): {
  readonly inline: ReadonlyMap<number, readonly NodeRecord[]>
  readonly sources: readonly RequestedSource[]
} {
  const nodes = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
  const inline = new Map(
    nodes.flatMap(([, records], position) => (Array.isArray(records) ? [[position, records] as const] : [])),
  )
  const sources = nodes.map(([node_id, records]): RequestedSource => {
    if (Array.isArray(records)) return { node_id }
    return 'file' in records ? { node_id, file: records.file } : { node_id, requested: records }
  })
  return { inline, sources }
}
