// Verifies a message file offline, with the keys given or those of the site's peers.

import type { PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text, withDefault } from '../../program/params.ts'
import { colourText, formatFields, formatTable, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'filedrop verify',
  summary: 'Verify a message offline',
  notes: [
    'Exit code 5: a check failed. Checks that need the receiving channel (sequence, freshness, label against the',
    'channel) are not made here.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Envelope or body of a message; the other file must be beside it')) },
  options: {
    keys: text('JWKS', 'Public keys to trust (default: those of the site and its peers)'),
    threshold: withDefault(1, integer('COUNT', 'Distinct keys that must have signed', 1, 16)),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform filedrop verify 00000001-0000000000000007.env.json --keys bravo-keys.json',
  async run(given, terminal) {
    const keys = await readTrustedKeys(given, terminal)
    const { verifyMessageFile } = await offline.filedrop()
    const seen = await verifyMessageFile(given.file, keys, given.threshold)
    const { src, dst, kind, created, msg_id } = seen.statement ?? {}
    printResult(terminal, given.json, seen, () =>
      [
        formatFields(terminal, {
          verdict: seen.ok ? colourText(terminal, 'green', 'holds') : colourText(terminal, 'red', 'does not hold'),
          msg_id,
          kind,
          from: src,
          to: dst,
          created,
          signed_by: seen.signers.join(', ') || undefined,
        }),
        '',
        formatTable(terminal, seen.checks, ['check', 'outcome', 'reason', 'detail'], 'no checks'),
      ].join('\n'),
    )
    return seen.ok ? 0 : 5
  },
})

type TrustedKeyInput = { readonly keys: string | undefined; readonly site: string | undefined }

/** Own keys too, so that a sender can look at what it sent. */
async function readTrustedKeys(given: TrustedKeyInput, terminal: Terminal): Promise<readonly PublicKey[]> {
  const keys = await offline.keys()
  if (given.keys !== undefined) return keys.parseJwks(readInputFile(given.keys))
  const folder = requireSite(given, terminal)
  const peers = await offline.peers()
  return [...(await peers.listPeers(folder)).flatMap((peer) => peer.keys), ...keys.listSiteKeys(folder)]
}
