// Checks the databases to the last document and audit record.

import { checkDatabases } from '../../store/store-files.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

const remedy = 'stop the site and restore a backup: platform store restore DIR; restore a cluster from its snapshots'

export async function checkStore({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const reports = await checkDatabases(folder, env, () => undefined)
  if (reports.length === 0) return [reportOk('store', 'the site has no data yet')]
  return reports.flatMap(({ role, faults }) =>
    faults.length === 0
      ? [reportOk('store', `the database of ${role} is sound`)]
      : faults.map((fault) => reportProblem('store.damaged', `${role}: ${fault}`, remedy)),
  )
}
