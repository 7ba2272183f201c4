// Scenarios in which each role refuses its share of a backup.
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

export const backupRefusals: Readonly<Record<string, RefusalScenario>> = Object.fromEntries(
  roles.flatMap(({ name }, at): [string, RefusalScenario][] => [
    [`${name}.service.backup not_found`, (stage) => requestBackupShare(stage, name, '2026-05-03T03-00-00-001Z')],
    [
      `${name}.service.backup already_exists`,
      (stage) => requestBackupShare(stage, name, `2026-05-03T03-00-00-01${at}Z`, `${name}.db`),
    ],
  ]),
)
