// Signs the list of messages missing from a peer, as a short file that a person carries to it.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { GapReceipt } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text } from '../../program/params.ts'
import { formatFields, formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop gaps',
  summary: 'List messages missing from a peer, as a signed receipt',
  notes: 'The peer sends them again with `platform filedrop resend --receipt FILE`. An old receipt does no harm.',
  positionals: { peer: required(text('PEER', 'Peer that sent the messages')) },
  options: {
    epoch: integer('NUMBER', 'Epoch (default: the current one)', 1, 99_999_999),
    out: text('FILE', 'File to create for the receipt, or an existing folder'),
    ...serviceOptions,
  },
  example: 'platform filedrop gaps bravo --out /media/stick',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const response = await api.call('site.gap.receipt', { peer: params.peer, epoch: params.epoch })
    const gaps = response.says as GapReceipt
    const file = params.out === undefined ? undefined : resolveReceiptFile(params.out, gaps)
    if (file !== undefined) writeOutputFile(file, `${JSON.stringify(response.receipt)}\n`)
    const { epoch, floor, highest, missing, not_after } = gaps
    const missing_count = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0)
    printResult(terminal, params.json, { ...response, ...(file === undefined ? {} : { file }) }, () =>
      [
        formatFields(terminal, {
          epoch,
          all_up_to: floor,
          highest,
          missing: missing_count,
          receipt: file,
          valid_until: not_after,
        }),
        '',
        formatTable(terminal, missing, ['first', 'last'], 'nothing is missing'),
      ].join('\n'),
    )
    return 0
  },
})

/** The file itself, or in a folder a unique name: `gaps-<this site>-<epoch>-<time>.json`. */
function resolveReceiptFile(out: string, { src, epoch, created }: GapReceipt): string {
  const isFolder = offline.asInvoker(() => lstatSync(out, { throwIfNoEntry: false })?.isDirectory())
  if (!isFolder) return out
  const time = created.replaceAll(/[-:]|\.\d+/g, '')
  return join(out, `gaps-${src}-${epoch}-${time}.json`)
}
