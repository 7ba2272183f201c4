// Leaves withdrawn records out of the sources of a run.
import { writeFileSync } from 'node:fs'
import { leaveOutRecords } from '../../roles/resolution/engine/records/leave-out-records.ts'
import type { RecordSource } from '../../roles/resolution/engine/records/records.ts'
import type { LeftOut } from '../../roles/resolution/fields.ts'
import { formatSourceCsv } from './files/node-csv.ts'
import { runFiles } from './files/run-folder.ts'
import { writeRunFile } from './files/write-run-file.ts'
import type { PhaseThreadJob } from './run-phase.ts'

/** The records of a node, and how many were left out, by whether everybody who may see the run may know of them. */
export type ReadNode = { readonly source: RecordSource; readonly shown: number; readonly hidden: number }

/** Rewrites the stored records of a request where they have one: the file stays until the run has ended. */
export function leaveOutWithdrawn(
  { withdrawn, sources, lens, folder }: PhaseThreadJob,
  index: number,
  read: RecordSource,
): ReadNode {
  const { node_id, file, dataset } = sources[index] ?? {}
  const ofNode = new Map(
    withdrawn.flatMap((ref) => (ref.node_id === node_id ? [[ref.record_id, ref.is_shown] as const] : [])),
  )
  const { source, left_out } = leaveOutRecords(read, lens.id_field, new Set(ofNode.keys()))
  if (left_out.length > 0 && file === undefined && !dataset)
    writeRunFile(runFiles.inline(folder, index), (descriptor) => {
      for (const line of formatSourceCsv(source)) writeFileSync(descriptor, line)
    })
  const shown = left_out.filter((id) => ofNode.get(id)).length
  return { source, shown, hidden: left_out.length - shown }
}

/** Whoever may not know of a withdrawn record cannot tell from the number that it is missing. */
export function countShownRecords({ source, hidden }: ReadNode): number {
  return source.rows + hidden
}

export function listWithdrawnLeftOut(nodes: readonly ReadNode[]): { left_out?: LeftOut[] } {
  const count = nodes.reduce((sum, { shown }) => sum + shown, 0)
  return count > 0 ? { left_out: [{ what: 'withdrawn_records', count, limit: 0 }] } : {}
}
