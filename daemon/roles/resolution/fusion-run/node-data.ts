// Records to resolve as a request names them: by node, inline or as a data file of the site.
import * as z from 'zod'

const nodeId = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\p{C}]+$/u, 'must be without control characters')

const nodeValue = z.union([z.string().max(65_536), z.number(), z.boolean(), z.null()])

export const nodeRecord = z.record(z.string().min(1).max(256), nodeValue)
export type NodeRecord = z.infer<typeof nodeRecord>

/** Below the tenant's folder, never out of it: no name begins with a dot. */
export const dataFile = z
  .string()
  .max(512)
  .regex(
    /^[\p{L}\p{N}_-][\p{L}\p{N}_. -]*(\/[\p{L}\p{N}_-][\p{L}\p{N}_. -]*)*$/u,
    'must be a relative name of a data file',
  )

/** The records of one node. */
export const nodeRecords = z.union([z.array(nodeRecord).min(1), z.strictObject({ file: dataFile })])
export type NodeRecords = z.infer<typeof nodeRecords>

const max_nodes = 64

export const nodeData = z
  .record(nodeId, nodeRecords)
  .refine((nodes) => Object.keys(nodes).length > 0, 'must name a node')
  .refine((nodes) => Object.keys(nodes).length <= max_nodes, `must not have more than ${max_nodes} nodes`)
  .meta({
    id: 'NodeData',
    description: 'Node to its records, or to {file}: the name of a data file in the tenant’s folder at the site',
  })
export type NodeData = z.infer<typeof nodeData>

/** In the order of their names, so that the order of a request changes nothing; `inline` by the place there. */
export function splitNodeData(data: NodeData) {
  const nodes = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1))
  const inline = new Map(nodes.flatMap(([, of], place) => (Array.isArray(of) ? [[place, of] as const] : [])))
  const sources = nodes.map(([node_id, of]) => (Array.isArray(of) ? { node_id } : { node_id, file: of.file }))
  return { inline, sources }
}
