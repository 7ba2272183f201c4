// Verifies audit chains: the site's own against its signed checkpoints, or an export on any machine.
import { offline } from '../../../daemon/boot/offline.ts'
import { command, Failure } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { paint, show } from '../../output.ts'
import { text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'audit verify',
  summary: 'find the first altered, missing or reordered record; exit code 5 when there is one',
  notes:
    'Without FILE, reads the databases of the site, while it runs or not, and holds them to the signed checkpoints. A role that runs alone, as the public door may, has none: an earlier export, kept elsewhere, shows then that nothing was cut off or written anew.',
  takes: { file: text('FILE', 'JSON lines of `platform audit export`, each chain whole or in one piece') },
  options: {
    exported: text('FILE', 'an earlier export: each chain must still hold the last record of it'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform audit verify',
  async run(given, terminal) {
    const { verifyChains, verifyExport } = await offline.audit()
    if (given.file !== undefined && given.exported !== undefined) {
      throw new Failure(2, 'FILE is looked at alone', 'leave out FILE to hold the site to --exported')
    }
    const exported = given.exported === undefined ? undefined : readInputFile(given.exported)
    const chains =
      given.file === undefined
        ? await verifyChains(requireSite(given, terminal), (line) => terminal.progress(line), exported)
        : verifyExport(readInputFile(given.file))
    terminal.progress('')
    const isWhole = chains.every(({ faults }) => faults.length === 0)
    show(
      terminal,
      given.json,
      { whole: isWhole, chains },
      () =>
        chains
          .map(({ writer, records, checkpoints, faults }) =>
            faults.length === 0
              ? `${paint(terminal, 'green', 'whole')} ${writer}: ${records} records, ${checkpoints} checkpoints`
              : `${paint(terminal, 'red', 'fault')} ${writer}: ${faults.join('; ')}`,
          )
          .join('\n') || 'there are no records yet',
    )
    return isWhole ? 0 : 5
  },
})
