// Verifies a message file offline, with the keys of --keys or those of the site and its peers.

import { offline } from '../../../daemon/offline/offline.ts'
import { max_key_set_bytes, readInputFile } from '../../file/input-file.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text } from '../../program/params.ts'
import { colourText, formatFields, formatTable, line_break, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'filedrop verify',
  summary: 'Verify a message or another signed document offline',
  notes: [
    'Exit code 5: a check failed. Makes the checks of live intake that do not depend on the receiving site; for an',
    'inventory, keys, an epoch or an acknowledgement also those of its content. Checks that need the receiving',
    'channel (sequence, freshness, label against the channel) are not made here.',
  ].join('\n'),
  positionals: {
    file: required(
      text('FILE', 'Envelope or body of a message, beside the other; or a manifest, receipt, epoch or release'),
    ),
  },
  options: {
    keys: text('FILE', 'JWKS or key set of the sender (default: its pinned keys at this site)'),
    threshold: integer('COUNT', 'Distinct keys that must have signed (default: as pinned, else 1)', 1, 16),
    rootThreshold: integer(
      'COUNT',
      'Distinct root keys that must have signed an epoch or a key set (default: as pinned, else 1)',
      1,
      16,
    ),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform filedrop verify 00000001-0000000000000007.env.json --keys bravo-keys.json',
  async run(params, terminal) {
    const { verifyMessageFile } = await offline.filedrop()
    const verification = await verifyMessageFile(params.file, senderFinder(params, terminal))
    const { src, dst, kind, created, msg_id } = verification.statement ?? {}
    printResult(terminal, params.json, verification, () =>
      [
        formatFields(terminal, {
          verdict: verification.ok
            ? colourText(terminal, 'green', 'holds')
            : colourText(terminal, 'red', 'does not hold'),
          msg_id,
          kind,
          from: src,
          to: dst,
          created,
          signed_by: verification.signers.join(', ') || undefined,
        }),
        '',
        formatTable(terminal, verification.checks, ['check', 'outcome', 'reason', 'detail'], 'no checks'),
      ].join(line_break),
    )
    return verification.ok ? 0 : 5
  },
})

type SenderInput = {
  readonly keys: string | undefined
  readonly threshold: number | undefined
  readonly rootThreshold: number | undefined
  readonly site: string | undefined
}

/** The keys of the sender. The thresholds on the command line replace those of the key set or the pinned peer. */
function senderFinder(params: SenderInput, terminal: Terminal) {
  const { threshold, rootThreshold: root_threshold } = params
  const chosen = { ...(threshold ? { threshold } : {}), ...(root_threshold ? { root_threshold } : {}) }
  return async (claimed_src: string | undefined) => {
    const { readSenderKeys, findPinnedSender } = await offline.filedrop()
    const found =
      params.keys === undefined
        ? await findPinnedSender(requireSite(params, terminal), terminal.env, claimed_src)
        : await readSenderKeys(readInputFile(params.keys, max_key_set_bytes))
    return { ...found, ...chosen }
  }
}
