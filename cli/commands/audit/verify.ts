// Verifies audit chains: the site's own against its signed checkpoints, or an export on any machine.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { paint, show } from '../../output.ts'
import { text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'audit verify',
  summary: 'find the first altered, missing or reordered record; exit code 5 when there is one',
  notes:
    'Without FILE, reads the databases of the site, while it runs or not, and holds them to the signed checkpoints.',
  takes: { file: text('FILE', 'JSON lines of `platform audit export`, each chain whole or in one piece') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform audit verify',
  async run(given, terminal) {
    const { verifyChains, verifyExport } = await offline.audit()
    const chains =
      given.file === undefined
        ? await verifyChains(requireSite(given, terminal), (line) => terminal.progress(line))
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
