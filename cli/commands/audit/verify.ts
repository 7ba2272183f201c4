// Verifies audit chains: the site's against its signed checkpoints, or an export on any machine.
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { colourText, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'audit verify',
  summary: 'Verify audit chains against their signed checkpoints',
  notes: [
    'Finds the first altered, missing or reordered record; exit code 5: there is one. Without FILE, reads the',
    'databases of the site, whether or not it runs. A role that runs alone, such as a proxy, has no checkpoints:',
    'pass an earlier export, kept elsewhere, as --exported to prove that no record was cut off or rewritten.',
  ].join('\n'),
  positionals: { file: text('FILE', 'JSON lines of `platform audit export`; each chain whole or one contiguous part') },
  options: {
    exported: text('FILE', 'Earlier export: each chain must still contain its last record'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform audit verify',
  async run(params, terminal) {
    const { verifyAuditChains, verifyAuditExport } = await offline.audit()
    if (params.file !== undefined && params.exported !== undefined) {
      throw new CommandFailure(
        2,
        'FILE and --exported cannot be combined',
        'leave out FILE to compare the site with --exported',
      )
    }
    const exported = params.exported === undefined ? undefined : readInputFile(params.exported)
    const chains =
      params.file === undefined
        ? await verifyAuditChains(requireSite(params, terminal), (line) => terminal.progress(line), exported)
        : verifyAuditExport(readInputFile(params.file))
    terminal.progress('')
    const isWhole = chains.every(({ faults }) => faults.length === 0)
    printResult(
      terminal,
      params.json,
      { whole: isWhole, chains },
      () =>
        chains
          .map(({ writer, records, checkpoints, faults }) =>
            faults.length === 0
              ? `${colourText(terminal, 'green', 'whole')} ${writer}: ${records} records, ${checkpoints} checkpoints`
              : `${colourText(terminal, 'red', 'fault')} ${writer}: ${faults.join('; ')}`,
          )
          .join('\n') || 'no records yet',
    )
    return isWhole ? 0 : 5
  },
})
