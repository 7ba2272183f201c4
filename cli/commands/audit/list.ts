// Lists audit records of the running roles of a site, newest first.
import type { AuditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import type { ApiObject } from '../../client/client.ts'
import { fetchMergedItems } from '../../client/fetch-merged.ts'
import { pageOptions, selectItems } from '../../options/page-options.ts'
import { connectService, type ServiceOptionsInput, serviceOptions } from '../../options/service-options.ts'
import { requireOwnSite } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { instant, text } from '../../program/params.ts'
import { formatTable, type OutputRow } from '../../terminal/output.ts'
import { printItems } from '../../terminal/print-items.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'audit list',
  summary: 'List audit records of all roles, newest first',
  options: {
    role: text('ROLE', 'Only this role (default: all roles of the profile; with --url consensus)'),
    action: text('ADDRESS', 'Only this action, such as consensus.session.create'),
    target: text('ID', 'Only actions on this target'),
    subject: text('SUBJECT', 'Only actions of this subject'),
    since: instant('TIME', 'Only records at or after this time'),
    until: instant('TIME', 'Only records before this time'),
    ...pageOptions,
    ...serviceOptions,
  },
  example: 'platform audit list --role site --since 2026-05-01',
  async run(params, terminal) {
    const roles = await selectRoles(params, terminal)
    const api = await connectService(params, terminal)
    const { action, target, subject, since, until } = params
    const list = {
      roles,
      addressOf: (role: string) => `${role}.service.audit`,
      input: { action, target, subject, since, until },
      timeOf: (item: ApiObject) => (item as AuditRecord).event?.at,
    }
    const page = await fetchMergedItems(api, list, selectItems(params))
    const eventColumn = (field: keyof NonNullable<AuditRecord['event']>) => ({
      heading: field,
      cell: (row: OutputRow) => (row as AuditRecord).event?.[field] ?? '(expired)',
    })
    const columns = [
      'role',
      'seq',
      eventColumn('at'),
      eventColumn('action'),
      eventColumn('outcome'),
      eventColumn('subject'),
      eventColumn('target'),
    ]
    printItems(terminal, params.json, page, () => formatTable(terminal, page.items, columns, 'no records match'))
    return 0
  },
})

async function selectRoles(
  params: ServiceOptionsInput & { readonly role: string | undefined },
  terminal: Terminal,
): Promise<readonly string[]> {
  const { roles } = await import('../../../daemon/roles.ts')
  const known = roles.map(({ name }) => name)
  if (params.role !== undefined && !known.includes(params.role))
    throw new CommandFailure(2, `the role "${params.role}" does not exist; the roles are ${known.join(', ')}`)
  if (params.role !== undefined) return [params.role]
  if (params.url !== undefined) return ['consensus']
  const profile = await offline.profile()
  return profile.listProfileRoles(requireOwnSite(params, terminal), terminal.env).map(({ name }) => name)
}
