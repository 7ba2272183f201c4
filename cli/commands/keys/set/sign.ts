// Signs a drafted key set with the root keys of a folder; needs neither site nor daemon.
import { offline } from '../../../../daemon/offline/offline.ts'
import { requireConsent } from '../../../confirmation/require-consent.ts'
import { max_key_set_bytes, readInputFile } from '../../../file/input-file.ts'
import { replaceFile } from '../../../file/replace-file.ts'
import { formatKeySetChanges } from '../../../format/key-set.ts'
import { dirOption, requireKeyLocation } from '../../../options/key-location.ts'
import { passphraseOption, resolvePassphrase } from '../../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { flag, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys set sign',
  summary: 'Sign a drafted key set with root keys',
  notes: [
    'Shows the changes in the set and asks for confirmation, then adds the signature to the file. Refuses a set',
    'that is not a successor of the current one. The folder records what was signed, so that its keys never sign',
    'two sets of one version.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Draft; the signature is added to it')) },
  options: {
    key: text('KEY', 'Only this root key (default: all valid root keys there)'),
    instead: flag('Replace a set of this version that was signed here; it must never be published'),
    yes: flag('Skip the confirmation'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys set sign keyset-2.json --dir /media/root-keys',
  async run({ file, key, instead, yes, ...params }, terminal) {
    const location = requireKeyLocation(params, terminal)
    const { reviewKeySetDraft, signKeySet } = await offline.keySets()
    const { draft, set, changes } = await reviewKeySetDraft(readInputFile(file, max_key_set_bytes))
    terminal.note(formatKeySetChanges(terminal, set, changes))
    await requireConsent(terminal, yes, `Sign key set ${set.version} of ${set.site}?`)
    const passphrase = await resolvePassphrase(terminal, params, location)
    const signed = await signKeySet(location.keys, { draft, kid: key, passphrase: () => passphrase, instead })
    replaceFile(file, `${JSON.stringify(signed.draft, undefined, 2)}\n`)
    const { signers } = signed
    const report = { file, version: set.version, signers, signatures: signed.draft.draft.signatures.length }
    printResult(terminal, params.json, report, () => `signed by ${signers.join(', ')}`)
    return 0
  },
})
