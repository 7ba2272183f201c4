// Verifies an evidence block from its file, on any machine, without a site or a network.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { readInputFile } from '../../input-file.ts'
import { fields, paint, show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { jsonOption } from '../../site.ts'

export const definition = command({
  words: 'evidence verify',
  summary: 'check an evidence block offline; exit code 5 when it does not hold',
  notes: [
    'Checks that the content is what was signed, that the result follows from the contributions and the decision from',
    'the result. Alone, the keys are the block’s own: compare the fingerprint with what the site told you. With --keys',
    'only those count.',
  ].join('\n'),
  takes: { file: needed(text('FILE', 'the block, as `platform evidence show --out` writes it')) },
  options: { keys: text('JWKS', 'public keys to trust, made by `platform keys export`'), ...jsonOption },
  example: 'platform evidence verify evidence.json --keys alpha-keys.json',
  async run({ file, keys, json }, terminal) {
    const [{ verifyEvidence }, { keysIn }] = await Promise.all([offline.evidence(), offline.keys()])
    const trusted = keys === undefined ? undefined : keysIn(readInputFile(keys))
    const verdict = await verifyEvidence(readInputFile(file), trusted)
    const { valid, faults, signed_by, block_id, site, session_id, decision, score, decided_at } = verdict
    const praise = trusted ? 'valid' : 'whole, but nobody has vouched for its signer'
    show(terminal, json, verdict, () =>
      fields(terminal, {
        verdict: valid ? paint(terminal, 'green', praise) : paint(terminal, 'red', faults.join('; ')),
        block_id,
        site,
        session_id,
        decision,
        score,
        decided_at,
        signed_by: signed_by.map(({ kid }) => kid).join(', ') || undefined,
        fingerprint: signed_by.map(({ fingerprint }) => fingerprint).join(', ') || undefined,
      }),
    )
    if (valid && keys === undefined)
      terminal.note('signed by the block’s own key: compare the fingerprint, or use --keys')
    return valid ? 0 : 5
  },
})
