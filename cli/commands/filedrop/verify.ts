// Verifies a message file offline, with the keys of --keys or those of the site and its peers.

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
  async run(params, terminal) {
    const keys = await readTrustedKeys(params, terminal)
    const { verifyMessageFile } = await offline.filedrop()
    const verification = await verifyMessageFile(params.file, keys, params.threshold)
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
      ].join('\n'),
    )
    return verification.ok ? 0 : 5
  },
})

type TrustedKeyInput = { readonly keys: string | undefined; readonly site: string | undefined }

/** Includes the site's own keys, so that a sender can verify its own messages. */
async function readTrustedKeys(params: TrustedKeyInput, terminal: Terminal): Promise<readonly PublicKey[]> {
  const keys = await offline.keys()
  if (params.keys !== undefined) return keys.parseJwks(readInputFile(params.keys))
  const folder = requireSite(params, terminal)
  const peers = await offline.peers()
  return [...(await peers.listPeers(folder)).flatMap((peer) => peer.keys), ...keys.listSiteKeys(folder)]
}
