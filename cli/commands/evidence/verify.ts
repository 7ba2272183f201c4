// Verifies an evidence block from its file, on any machine, without a site or a network.
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { colourText, formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'evidence verify',
  summary: 'Verify an evidence block offline',
  notes: [
    'Checks the signature over the content, that the result follows from the contributions, and that the decision',
    'follows from the result. Exit code 5: a check failed. Without --keys, the block’s embedded keys are used:',
    'compare the fingerprint with the one that the site gave you. With --keys, only those keys are trusted.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Evidence block, from `platform evidence show --out`')) },
  options: { keys: text('JWKS', 'Public keys to trust, from `platform keys export`'), ...jsonOption },
  example: 'platform evidence verify evidence.json --keys alpha-keys.json',
  async run({ file, keys, json }, terminal) {
    const [{ verifyEvidence }, { parseJwks }] = await Promise.all([offline.evidence(), offline.keys()])
    const trustedKeys = keys === undefined ? undefined : parseJwks(readInputFile(keys))
    const verdict = await verifyEvidence(readInputFile(file), trustedKeys)
    const { valid, faults, signed_by, block_id, site, session_id, decision, score, decided_at } = verdict
    const verdictText = trustedKeys ? 'valid' : 'intact, but its signer is not verified'
    printResult(terminal, json, verdict, () =>
      formatFields(terminal, {
        verdict: valid ? colourText(terminal, 'green', verdictText) : colourText(terminal, 'red', faults.join('; ')),
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
      terminal.note('signed by a key in the block itself: compare the fingerprint, or use --keys')
    return valid ? 0 : 5
  },
})
