// Signs the list of messages missing from a peer, as a short file that a person carries to it.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { GapReceipt, InventoryState } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text } from '../../program/params.ts'
import { formatFields, formatTable, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop gaps',
  summary: 'List messages missing from a peer, as a signed receipt',
  notes: [
    'The peer sends them again with `platform filedrop resend --receipt FILE`. An old receipt does no harm. After',
    'a restore, and at the beginning of an epoch, later numbers are unknown until an inventory of the peer arrives.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'Peer that sent the messages')) },
  options: {
    epoch: integer('NUMBER', 'Epoch (default: the current one)', 1, 99_999_999),
    out: text('FILE', 'File to create for the receipt, or an existing folder (default: none)'),
    ...serviceOptions,
  },
  example: 'platform filedrop gaps bravo --out /media/stick',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const response = await api.call('site.gap.receipt', { peer: params.peer, epoch: params.epoch })
    const gaps = response.says as GapReceipt
    const file = params.out === undefined ? undefined : resolveReceiptFile(params.out, gaps)
    if (file !== undefined) writeOutputFile(file, `${JSON.stringify(response.receipt)}\n`)
    const { is_inventory_pending, inventory_at, is_requested } = response as unknown as InventoryState
    const { epoch, floor, highest, missing, not_after } = gaps
    const missing_count = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0)
    printResult(terminal, params.json, { ...response, ...(file === undefined ? {} : { file }) }, () =>
      [
        formatFields(terminal, {
          epoch,
          all_up_to: floor,
          highest,
          missing: is_inventory_pending ? formatUnknown(missing_count) : missing_count,
          last_inventory: inventory_at,
          receipt: file,
          valid_until: not_after,
        }),
        '',
        formatTable(
          terminal,
          missing,
          ['first', 'last'],
          is_inventory_pending ? 'no missing number is known' : 'nothing is missing',
        ),
      ].join(line_break),
    )
    if (is_inventory_pending) terminal.note(describePending(params.peer, gaps, is_requested))
    return 0
  },
})

function formatUnknown(missing: number): string {
  return missing === 0 ? 'unknown' : `${missing}, and further ones unknown`
}

/** Only the number of the newest inventory shows which numbers the peer has used. */
function describePending(peer: string, { epoch, highest }: GapReceipt, is_requested: boolean): string {
  const finding = `numbers above ${highest} of epoch ${epoch} are unknown: no inventory of it has arrived since the epoch began or this site was restored`
  if (is_requested) return `${finding}. The next acknowledgement requests one`
  return `${finding}. Ask the operators of ${peer} to have their next inventory carried`
}

/** The file itself, or in a folder a unique name: `gaps-<this site>-<epoch>-<time>.json`. */
function resolveReceiptFile(out: string, { src, epoch, created }: GapReceipt): string {
  const isFolder = offline.asInvoker(() => statSync(out, { throwIfNoEntry: false })?.isDirectory())
  if (!isFolder) return out
  const time = created.replaceAll(/[-:]|\.\d+/g, '')
  return join(out, `gaps-${src}-${epoch}-${time}.json`)
}
