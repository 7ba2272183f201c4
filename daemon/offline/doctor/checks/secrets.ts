// Checks that every wrapping key is there under which a role stores secrets.
import * as z from 'zod'
import { readWrappingKeys } from '../../../../adapters/keys/jose/wrapping-keys.ts'
import { loadRole } from '../../../boot/loaded-roles.ts'
import { dataKeys } from '../../../kernel/secret/stored-data-key.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { ListQuery, Store } from '../../../kernel/store/store.ts'
import { roleTask } from '../../role-task/role-task.ts'
import { runRoleTask } from '../../role-task/run-role-task.ts'
import { listRolesWithDatabase, withDatabase, withDocuments } from '../../store/role-database.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

export async function checkSecrets({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const present = new Set(readWrappingKeys(folder.keys).map(({ kid }) => kid))
  const findings: DoctorFinding[] = []
  const roles = await Promise.all(listRolesWithDatabase(folder).map(loadRole))
  for (const role of roles.filter(({ collections }) => collections.includes(dataKeys))) {
    const needed = await runRoleTask(listNeededWrappingKeys, { folder, env, role }, null)
    const missing = needed.filter(({ kid }) => !present.has(kid))
    findings.push(...missing.map((each) => reportMissingKey(role.name, each)))
    if (needed.length > 0 && missing.length === 0)
      findings.push(reportOk('secrets', `the keys of the secrets of ${role.name} are there`))
  }
  return findings
}

function reportMissingKey(role: string, { kid, collections }: NeededWrappingKey): DoctorFinding {
  return reportProblem(
    'secrets.wrapping_key_missing',
    `secrets of ${role} (${collections.join(', ')}) cannot be read: the wrapping key ${kid} is missing`,
    `restore secrets/${kid}.json in the folder of the keys from a copy, and restart ${role}; without it these secrets are lost`,
  )
}

const neededWrappingKey = z.strictObject({ kid: z.string(), collections: z.array(z.string()) })
type NeededWrappingKey = z.infer<typeof neededWrappingKey>

/** The wrapping keys of the data keys of a role. A data key is stored as long as a secret is encrypted by it. */
export const listNeededWrappingKeys = roleTask({
  name: 'list-needed-wrapping-keys',
  input: z.null(),
  event: z.never(),
  output: z.array(neededWrappingKey),
  run: ({ folder, env, role }) =>
    withDatabase(folder, role, (database) => withDocuments(folder, env, database, groupByWrappingKey)),
})

async function groupByWrappingKey(store: Store): Promise<NeededWrappingKey[]> {
  const found = new Map<string, Set<string>>()
  const list = (query: ListQuery) => store.list(dataKeys, query)
  for await (const { value } of iterateDocuments({ list }, {})) {
    const collections = found.get(value.wrapping_key) ?? new Set()
    found.set(value.wrapping_key, collections.add(value.collection))
  }
  return [...found].map(([kid, collections]) => ({ kid, collections: [...collections].sort() }))
}
