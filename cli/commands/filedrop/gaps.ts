// Signs what is missing from a peer, as a short file that a person carries to it.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { offline } from '../../../daemon/boot/offline.ts'
import type { GapReceipt } from '../../../daemon/kernel/one-way.ts'
import { command } from '../../command.ts'
import { fields, show, table } from '../../output.ts'
import { writeOutputFile } from '../../output-file.ts'
import { needed, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'filedrop gaps',
  summary: 'what is missing from a peer, as a signed receipt to carry to it',
  notes: 'The peer sends it again with `platform filedrop resend --receipt FILE`. An old receipt does no harm.',
  takes: { peer: needed(text('PEER', 'the peer that sent it')) },
  options: {
    epoch: whole('NUMBER', 'of this epoch; else the current one', 1, 99_999_999),
    out: text('FILE', 'write the receipt there, where no file may be yet, or into this folder'),
    ...serviceOptions,
  },
  example: 'platform filedrop gaps bravo --out /media/stick',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const answer = await api.call('site.gap.receipt', { peer: given.peer, epoch: given.epoch })
    const says = answer.says as GapReceipt
    const file = given.out === undefined ? undefined : placeFor(given.out, says)
    if (file !== undefined) writeOutputFile(file, `${JSON.stringify(answer.receipt)}\n`)
    const { epoch, floor, highest, missing, not_after } = says
    const numbers = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0)
    show(terminal, given.json, { ...answer, ...(file === undefined ? {} : { file }) }, () =>
      [
        fields(terminal, { epoch, all_up_to: floor, highest, missing: numbers, receipt: file, valid_until: not_after }),
        '',
        table(terminal, missing, ['first', 'last'], 'nothing is missing'),
      ].join('\n'),
    )
    return 0
  },
})

/** In a folder by a name that tells receipts apart: `gaps-<this site>-<epoch>-<time>.json`. */
function placeFor(out: string, { src, epoch, created }: GapReceipt): string {
  const isFolder = offline.asInvoker(() => lstatSync(out, { throwIfNoEntry: false })?.isDirectory())
  if (!isFolder) return out
  const time = created.replaceAll(/[-:]|\.\d+/g, '')
  return join(out, `gaps-${src}-${epoch}-${time}.json`)
}
