// Signs a drafted key set with the root keys of a folder; needs neither site nor daemon.
import { offline } from '../../../../daemon/boot/offline.ts'
import { writeOver } from '../../../changed-file.ts'
import { command } from '../../../command.ts'
import { requireConsent } from '../../../consent.ts'
import { readInputFile } from '../../../input-file.ts'
import { dirOption, foundKeys } from '../../../key-place.ts'
import { changesText } from '../../../key-set-text.ts'

import { show } from '../../../output.ts'
import { flag, needed, text } from '../../../params.ts'
import { passphraseOf, passphraseOption } from '../../../passphrase.ts'
import { jsonOption, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys set sign',
  summary: 'sign a drafted key set with root keys',
  notes: [
    'Shows what the set changes and wants it confirmed; the signature is added to the file. What is no successor of the set',
    'in force is refused. The folder remembers what was signed, so that its keys never sign two sets of one version.',
  ].join('\n'),
  takes: { file: needed(text('FILE', 'the draft; the signature is added to it')) },
  options: {
    key: text('KEY', 'only this root key; else all there that count'),
    instead: flag('another set of this version was signed here, and was and will be published nowhere'),
    yes: flag('do not ask'),
    ...passphraseOption,
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys set sign keyset-2.json --dir /media/root-keys',
  async run({ file, key, instead, yes, ...given }, terminal) {
    const place = foundKeys(given, terminal)
    const { read, sign } = await offline.keySets()
    const { draft, set, changes } = await read(readInputFile(file))
    terminal.note(changesText(terminal, set, changes))
    await requireConsent(terminal, yes, `Sign key set ${set.version} of ${set.site}?`)
    const passphrase = await passphraseOf(terminal, given, place)
    const signed = await sign(place.keys, { draft, kid: key, passphrase: () => passphrase, instead })
    writeOver(file, `${JSON.stringify(signed.draft, undefined, 2)}\n`)
    const { signers } = signed
    const answer = { file, version: set.version, signers, signatures: signed.draft.draft.signatures.length }
    show(terminal, given.json, answer, () => `signed by ${signers.join(', ')}`)
    return 0
  },
})
