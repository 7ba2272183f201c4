// Writes the report of an audit log as one page of HTML.
import { offline } from '../../../daemon/offline/offline.ts'
import { createExportKeyFinder, exportKeysOption } from '../../options/export-keys.ts'
import { reportOption } from '../../options/report-option.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { instant, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'report audit',
  summary: 'Write the report of the audit log, or of an export, as one HTML page',
  notes: [
    'Verifies the chains, then counts records over time, by hour of the week, action, subject and role, and lists the',
    'newest and the newest refused ones. Without FILE, reads the databases of the site, whether or not it runs: records',
    'of every tenant and level. The page needs no network and no script. Exit code 5: a chain is not whole; the',
    'report is written all the same.',
  ].join('\n'),
  positionals: { file: text('FILE', 'JSON lines of `platform audit export`') },
  options: {
    ...reportOption,
    ...exportKeysOption,
    since: instant('TIME', 'Only records at or after this time'),
    until: instant('TIME', 'Only records before this time'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform report audit --since 2026-05-01 --out audit.html',
  async run(params, terminal) {
    const { file, out, keys, since, until } = params
    if (file !== undefined && (since !== undefined || until !== undefined))
      throw new CommandFailure(2, '--since and --until are for the site; an export has its own range')
    if (file === undefined && keys !== undefined)
      throw new CommandFailure(2, '--keys is for an export; the site is verified with its own keys')
    const [reports, { requireReportFile }] = await Promise.all([offline.auditReport(), offline.reportFile()])
    requireReportFile(out)
    const write = async () => {
      if (file !== undefined)
        return await reports.writeExportAuditReport(out, file, await createExportKeyFinder(params, terminal))
      const folder = await requireWholeSite(params, terminal, [out])
      return await reports.writeSiteAuditReport(out, folder, terminal.env, { since, until }, (line) =>
        terminal.progress(line),
      )
    }
    const written = await write()
    terminal.progress('')
    printResult(terminal, params.json, written, () => written.file)
    return written.whole ? 0 : 5
  },
})
