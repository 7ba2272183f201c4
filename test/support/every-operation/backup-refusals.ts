// Scenarios in which each role refuses its share of a backup, and the site to cancel one.
import { endJob, newJob } from '../../../daemon/kernel/job/rules.ts'
import { backups } from '../../../daemon/roles/site/backup/model.ts'
import { roles } from '../../../daemon/roles.ts'
import { apiPrefix } from '../http/api-prefix.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import { beginBackupSet } from './begin-backup-set.ts'
import type { OperationFixture } from './operation-fixture.ts'

type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>

/** With files: of a backup that was begun and holds them. */
function requestBackupShare(
  { site, admin }: OperationFixture,
  role: string,
  set: string,
  ...files: string[]
): Promise<ExactResponse> {
  if (files.length > 0) beginBackupSet(site.folder, set, ...files)
  return site.request(role, { method: 'POST', path: `${apiPrefix(role)}/backup`, token: admin, body: { set } })
}

let jobs = 0
/** A backup that is to be made far in the future. */
export async function createBackupJob({ site }: OperationFixture, tenant_id = 'alpha'): Promise<string> {
  const id = `backup_${++jobs}`
  const { store } = site.running.services.find(({ role }) => role.name === 'site')?.context ?? {}
  const created_at = '2026-03-02T12:00:00.000Z'
  const job = newJob(undefined, Date.parse('2100-01-01T00:00:00Z'))
  await store?.create(backups, id, { tenant_id, created_by: 'role:site', created_at, ...job })
  return id
}

function cancelJob({ site, admin }: OperationFixture, id: string): Promise<ExactResponse> {
  return site.request('site', { method: 'DELETE', path: `${apiPrefix('site')}/job/backup/${id}`, token: admin })
}

async function cancelEndedJob(stage: OperationFixture): Promise<ExactResponse> {
  const { site } = stage
  const id = await createBackupJob(stage)
  const { store } = site.running.services.find(({ role }) => role.name === 'site')?.context ?? {}
  await store?.update(backups, id, ({ value }) => ({ next: endJob(value, 'failed', {}), answer: undefined }))
  return cancelJob(stage, id)
}

export const backupRefusals: Readonly<Record<string, RefusalScenario>> = Object.fromEntries([
  ['site.service.cancel-backup-job wrong_state', cancelEndedJob],
  [
    'site.service.cancel-backup-job not_your_tenant',
    async (stage) => cancelJob(stage, await createBackupJob(stage, 'bravo')),
  ],
  ...roles.flatMap(({ name }, at): [string, RefusalScenario][] => [
    [`${name}.service.backup not_found`, (stage) => requestBackupShare(stage, name, '2026-05-03T03-00-00-001Z')],
    [
      `${name}.service.backup already_exists`,
      (stage) => requestBackupShare(stage, name, `2026-05-03T03-00-00-01${at}Z`, `${name}.db`),
    ],
  ]),
])
