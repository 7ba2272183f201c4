// Shows the current key set, and writes the file from which peers take it.
import { offline } from '../../../../daemon/offline/offline.ts'
import { writeOutputFile } from '../../../file/output-file.ts'
import { formatKeySet } from '../../../format/key-set.ts'
import { jsonOption, requireSite, siteOption } from '../../../options/site-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys set show',
  summary: 'Show the current key set',
  notes: [
    'With --out, writes a file for `platform peers add --keys` and `platform peers update --keys` at another',
    'site.',
  ].join('\n'),
  options: {
    out: text('FILE', 'File to create, with this set and those before it (default: none)'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys set show --out alpha-keyset.json',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const { exportCurrentKeySet } = await offline.keySets()
    const current = exportCurrentKeySet(folder)
    const remedy =
      '`platform keys rotate KEY` makes the first; if the root keys are elsewhere, `platform keys set draft --out FILE`'
    if (!current) throw new CommandFailure(1, 'the site has no key set: its peers have pinned single keys', remedy)
    if (params.out !== undefined) writeOutputFile(params.out, `${JSON.stringify(current.file, undefined, 2)}\n`)
    printResult(terminal, params.json, current.set, () => formatKeySet(terminal, current.set))
    return 0
  },
})
