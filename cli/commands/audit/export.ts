// Writes whole audit chains, oldest first, for a SIEM or for verification elsewhere.

import { offline } from '../../../daemon/offline/offline.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { formatCef } from '../../format/cef.ts'
import { requireSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, flag, instant, text, withDefault } from '../../program/params.ts'
import { escapeControls } from '../../terminal/output.ts'

export const definition = command({
  words: 'audit export',
  summary: 'Export audit records as JSON lines or CEF, oldest first',
  notes: [
    'Reads the databases of the site directly, whether or not it runs: anyone with read access to them sees',
    'records of every tenant and level. An export without --since and --until is a whole chain: `platform audit',
    'verify FILE` checks it on any machine.',
  ].join('\n'),
  options: {
    role: text('ROLE', 'Only the chain of this role (default: all)'),
    format: withDefault('json', choice('FORMAT', 'Format of each line', ['json', 'cef'])),
    since: instant('TIME', 'Only records at or after this time'),
    until: instant('TIME', 'Only records before this time'),
    json: flag('Write JSON lines (the default)'),
    ...siteOption,
  },
  example: 'platform audit export --format cef --since 2026-05-01 > audit.cef',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const { listAuditedRoles, forEachAuditRecord } = await offline.audit()
    const auditedRoles = listAuditedRoles(folder)
    const selectedRoles = auditedRoles.filter((role) => params.role === undefined || role.name === params.role)
    if (params.role !== undefined && selectedRoles.length === 0)
      throw new CommandFailure(
        1,
        `the role ${params.role} has no audit records at this site`,
        `roles with records: ${auditedRoles.map(({ name }) => name).join(', ') || 'none'}`,
      )
    const isCef = params.format === 'cef' && !params.json
    const span = { ...(params.since ? { since: params.since } : {}), ...(params.until ? { until: params.until } : {}) }
    for (const role of selectedRoles) {
      await forEachAuditRecord(folder, role, span, (record) =>
        terminal.print(escapeControls(isCef ? formatCef(record, manifest.version) : JSON.stringify(record))),
      )
    }
    return 0
  },
})
