// Whether the databases are sound to the last document and audit record.
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem } from '../finding.ts'
import { check } from '../store-files.ts'

const remedy =
  'stop the site and put back a backup: platform store restore DIR; what is in a cluster, from its snapshots or settings'

export async function storeFindings({ folder, env }: Examined): Promise<Finding[]> {
  const all = await check(folder, env, () => undefined)
  if (all.length === 0) return [fine('store', 'the site has no data yet')]
  return all.flatMap(({ role, faults }) =>
    faults.length === 0
      ? [fine('store', `the database of ${role} is sound`)]
      : faults.map((fault) => problem('store', `${role}: ${fault}`, remedy)),
  )
}
