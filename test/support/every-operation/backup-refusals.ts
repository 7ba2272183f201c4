// How each role is brought to refuse its share of a backup.
import { roles } from '../../../daemon/roles.ts'
import { prefixOf } from '../api-prefix.ts'
import type { Heard } from '../http-exchange.ts'
import { begunSet } from './begun-set.ts'
import type { Stage } from './stage.ts'

type Refusal = (stage: Stage) => Promise<Heard>

/** With files: of a backup that was begun and holds them. */
function shareOf({ site, admin }: Stage, role: string, set: string, ...files: string[]): Promise<Heard> {
  if (files.length > 0) begunSet(site.folder, set, ...files)
  return site.ask(role, { method: 'POST', path: `${prefixOf(role)}/backup`, token: admin, body: { set } })
}

export const backupRefusals: Readonly<Record<string, Refusal>> = Object.fromEntries(
  roles.flatMap(({ name }, at): [string, Refusal][] => [
    [`${name}.service.backup not_found`, (stage) => shareOf(stage, name, '2026-05-03T03-00-00-001Z')],
    [
      `${name}.service.backup already_exists`,
      (stage) => shareOf(stage, name, `2026-05-03T03-00-00-01${at}Z`, `${name}.db`),
    ],
  ]),
)
