// Verifies audit chains: the site's own against its signed checkpoints, or an export on any machine.
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { colourText, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'audit verify',
  summary: 'find the first altered, missing or reordered record; exit code 5 when there is one',
  notes:
    'Without FILE, reads the databases of the site, while it runs or not, and holds them to the signed checkpoints. A role that runs alone, as the public door may, has none: an earlier export, kept elsewhere, shows then that nothing was cut off or written anew.',
  positionals: { file: text('FILE', 'JSON lines of `platform audit export`, each chain whole or in one piece') },
  options: {
    exported: text('FILE', 'an earlier export: each chain must still hold the last record of it'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform audit verify',
  async run(given, terminal) {
    const { verifyAuditChains, verifyAuditExport } = await offline.audit()
    if (given.file !== undefined && given.exported !== undefined) {
      throw new CommandFailure(2, 'FILE is looked at alone', 'leave out FILE to hold the site to --exported')
    }
    const exported = given.exported === undefined ? undefined : readInputFile(given.exported)
    const chains =
      given.file === undefined
        ? await verifyAuditChains(requireSite(given, terminal), (line) => terminal.progress(line), exported)
        : verifyAuditExport(readInputFile(given.file))
    terminal.progress('')
    const isWhole = chains.every(({ faults }) => faults.length === 0)
    printResult(
      terminal,
      given.json,
      { whole: isWhole, chains },
      () =>
        chains
          .map(({ writer, records, checkpoints, faults }) =>
            faults.length === 0
              ? `${colourText(terminal, 'green', 'whole')} ${writer}: ${records} records, ${checkpoints} checkpoints`
              : `${colourText(terminal, 'red', 'fault')} ${writer}: ${faults.join('; ')}`,
          )
          .join('\n') || 'there are no records yet',
    )
    return isWhole ? 0 : 5
  },
})
