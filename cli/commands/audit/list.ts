// Lists audit records of a running role, newest first.
import type { AuditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { fetchItems } from '../../client/fetch-items.ts'
import { pageOptions, selectItems } from '../../options/page-options.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { instant, text, withDefault } from '../../program/params.ts'
import { formatTable, type OutputRow } from '../../terminal/output.ts'
import { printItems } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'audit list',
  summary: 'List audit records of a role, newest first',
  options: {
    role: withDefault('consensus', text('ROLE', 'Role')),
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
    const { roles } = await import('../../../daemon/roles.ts')
    const roleNames = roles.map(({ name }) => name)
    if (!roleNames.includes(params.role))
      throw new CommandFailure(2, `the role "${params.role}" does not exist; the roles are ${roleNames.join(', ')}`)
    const api = await connectService(params, terminal)
    const { role, action, target, subject, since, until } = params
    const filter = { action, target, subject, since, until }
    const page = await fetchItems(api, `${role}.service.audit`, filter, selectItems(params))
    const eventColumn = (field: keyof NonNullable<AuditRecord['event']>) => ({
      heading: field,
      cell: (row: OutputRow) => (row as AuditRecord).event?.[field] ?? '(expired)',
    })
    const columns = [
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
