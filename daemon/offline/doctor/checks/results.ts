// Reports sessions that are in conflict because their origin sent a false result.
import * as z from 'zod'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { ListQuery, Store } from '../../../kernel/store/store.ts'
import { sessions } from '../../../roles/consensus/session/model.ts'
import { roleTask } from '../../role-task/role-task.ts'
import { runRoleTask } from '../../role-task/run-role-task.ts'
import { listRolesWithDatabase, withDatabase, withDocuments } from '../../store/role-database.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, doctorFinding, reportProblem } from '../finding.ts'

export async function checkResults({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const consensus = listRolesWithDatabase(folder).find(({ name }) => name === 'consensus')
  return consensus ? await runRoleTask(findFalseResults, { folder, env, role: consensus }, null) : []
}

export const findFalseResults = roleTask({
  name: 'find-false-results',
  input: z.null(),
  event: z.never(),
  output: z.array(doctorFinding),
  run: ({ folder, env, role }) =>
    withDatabase(folder, role, (database) => withDocuments(folder, env, database, reportFalseResults)),
})

async function reportFalseResults(store: Store): Promise<DoctorFinding[]> {
  const counts = new Map<string, { sessions: number; first: string }>()
  const list = (query: ListQuery) => store.list(sessions, query)
  for await (const { id, value } of iterateDocuments({ list }, { filter: { state: 'IN_CONFLICT' } })) {
    if (value.reason !== 'invalid_result' || !value.origin) continue
    const { sessions: before = 0, first = id } = counts.get(value.origin.peer) ?? {}
    counts.set(value.origin.peer, { sessions: before + 1, first })
  }
  return [...counts].map(([peer, { sessions: count, first }]) =>
    reportProblem(
      'results.false',
      `${peer} sent false results of ${count === 1 ? '1 session' : `${count} sessions`}, such as ${first}`,
      `platform consensus get ${first} lists the faults; contact the operators of ${peer}`,
    ),
  )
}
