// Writes audit chains, oldest first, for a SIEM or, signed by the site, for verification elsewhere.

import { product } from '../../../adapters/platform/product/product.ts'
import { offline, type SiteFolder } from '../../../daemon/offline/offline.ts'
import { formatCef } from '../../format/cef.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { requireWholeSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, flag, instant, text, withDefault } from '../../program/params.ts'
import { colourText } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'audit export',
  summary: 'Export audit records as JSON lines or CEF, oldest first',
  notes: [
    'Reads the databases of the site directly, whether or not it runs: anyone with read access to them sees',
    'records of every tenant and level. JSON lines end with a line in which the site signs the exact range of each',
    'chain: `platform audit verify FILE --keys JWKS` checks them on any machine. With --since or --until a chain goes',
    'from its first to its last record of that time, with all between. Exit code 5: a chain has a fault, or the site',
    'has no key to sign with.',
  ].join('\n'),
  options: {
    role: text('ROLE', 'Only the chain of this role (default: all)'),
    format: withDefault('json', choice('FORMAT', 'Format of each line', ['json', 'cef'])),
    since: instant('TIME', 'Only records at or after this time'),
    until: instant('TIME', 'Only records before this time'),
    json: flag('Write JSON lines (the default)'),
    ...passphraseOption,
    ...siteOption,
  },
  example: 'platform audit export --format cef --since 2026-05-01 > audit.cef',
  async run(params, terminal) {
    const folder = await requireWholeSite(params, terminal, [params.passphraseFile])
    const { listAuditedRoles, forEachAuditRecord } = await offline.audit()
    const auditedRoles = listAuditedRoles(folder)
    const selectedRoles = auditedRoles.filter((role) => params.role === undefined || role.name === params.role)
    if (params.role !== undefined && selectedRoles.length === 0)
      throw new CommandFailure(
        1,
        `the role ${params.role} has no audit records at this site`,
        `roles with records: ${auditedRoles.map(({ name }) => name).join(', ') || 'none'}`,
      )
    const { since, until } = params
    if (params.format === 'cef' && !params.json) {
      const span = { ...(since ? { since } : {}), ...(until ? { until } : {}) }
      for (const role of selectedRoles) {
        await forEachAuditRecord(folder, role, span, (record) => terminal.print(formatCef(record, product.version)))
      }
      return 0
    }
    const passphrase = await findPassphrase(params, folder, terminal)
    const { exportAuditChains } = await offline.auditExport()
    const options = {
      ...{ roles: selectedRoles, hasEveryRole: params.role === undefined, since, until },
      ...{ passphrase: () => passphrase, now: Date.now() },
    }
    const { signed, problems } = await exportAuditChains(folder, terminal.env, options, (line) =>
      terminal.print(JSON.stringify(line)),
    )
    for (const problem of problems) terminal.note(`${colourText(terminal, 'red', 'not signed')} ${problem}`)
    return signed ? 0 : 5
  },
})

/** Undefined where nobody can give it: the records are then exported without a signature. */
async function findPassphrase(
  params: Parameters<typeof resolvePassphrase>[1],
  folder: SiteFolder,
  terminal: Terminal,
): Promise<string | undefined> {
  try {
    return await resolvePassphrase(terminal, params, folder, 'message')
  } catch (error) {
    if (error instanceof CommandFailure && params.passphraseFile === undefined) return undefined
    throw error
  }
}
