// Examines a message file offline, with the keys given or those of the site's peers.
import { offline } from '../../../daemon/boot/offline.ts'
import type { PublicKey } from '../../../daemon/kernel/keys.ts'
import { command } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { fields, paint, show, table } from '../../output.ts'
import { needed, otherwise, text, whole } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'
import type { Terminal } from '../../terminal.ts'

export const definition = command({
  words: 'filedrop verify',
  summary: 'check a message offline; exit code 5 when it is bad',
  notes: 'Checks that ask for the place of arrival (sequence, freshness, label against the channel) are not made here.',
  takes: { file: needed(text('FILE', 'the envelope or the body; the other half must lie beside it')) },
  options: {
    keys: text('JWKS', 'public keys to trust; else those of the site’s peers and its own'),
    threshold: otherwise(1, whole('COUNT', 'distinct keys that must have signed', 1, 16)),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform filedrop verify 00000001-0000000000000007.env.json --keys bravo-keys.json',
  async run(given, terminal) {
    const keys = await trusted(given, terminal)
    const { verify } = await offline.filedrop()
    const seen = await verify(given.file, keys, given.threshold)
    const { src, dst, kind, created, msg_id } = seen.statement ?? {}
    show(terminal, given.json, seen, () =>
      [
        fields(terminal, {
          verdict: seen.ok ? paint(terminal, 'green', 'holds') : paint(terminal, 'red', 'does not hold'),
          msg_id,
          kind,
          from: src,
          to: dst,
          created,
          signed_by: seen.signers.join(', ') || undefined,
        }),
        '',
        table(terminal, seen.checks, ['check', 'outcome', 'reason', 'detail'], 'no checks'),
      ].join('\n'),
    )
    return seen.ok ? 0 : 5
  },
})

type Named = { readonly keys: string | undefined; readonly site: string | undefined }

/** Own keys too, so that a sender can look at what it sent. */
async function trusted(given: Named, terminal: Terminal): Promise<readonly PublicKey[]> {
  const keys = await offline.keys()
  if (given.keys !== undefined) return keys.keysIn(readInputFile(given.keys))
  const folder = requireSite(given, terminal)
  const peers = await offline.peers()
  return [...(await peers.list(folder)).flatMap((peer) => peer.keys), ...keys.list(folder)]
}
