// Lists audit records of a running role, newest first.
import type { AuditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { instant, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

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
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform audit list --role site --since 2026-05-01',
  async run(params, terminal) {
    const { roles } = await import('../../../daemon/roles.ts')
    const roleNames = roles.map(({ name }) => name)
    if (!roleNames.includes(params.role))
      throw new CommandFailure(2, `the role "${params.role}" does not exist; the roles are ${roleNames.join(', ')}`)
    const api = await connectService(params, terminal)
    const { role, action, target, subject, since, until, limit } = params
    const items = await listAllItems(api, `${role}.service.audit`, { action, target, subject, since, until }, limit)
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
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'no records match'))
    return 0
  },
})
