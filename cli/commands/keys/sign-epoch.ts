// Signs a drafted announcement of an epoch with the root keys of a folder; needs neither site nor daemon.
import { offline } from '../../../daemon/boot/offline.ts'
import { writeOver } from '../../changed-file.ts'
import { command } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { readInputFile } from '../../input-file.ts'
import { dirOption, foundKeys } from '../../key-place.ts'
import { fields, show } from '../../output.ts'
import { flag, needed, text } from '../../params.ts'
import { passphraseOf, passphraseOption } from '../../passphrase.ts'
import { jsonOption, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys sign-epoch',
  summary: 'sign a drafted announcement of an epoch with root keys',
  notes: [
    'For root keys that are never connected, or that lie apart: `platform filedrop epoch PEER --out FILE` drafts it at the',
    'site, each root key signs it where it lies, and `platform filedrop epoch PEER --announcement FILE` opens the epoch.',
  ].join('\n'),
  takes: { file: needed(text('FILE', 'the draft; the signature is added to it')) },
  options: { yes: flag('do not ask'), ...passphraseOption, ...dirOption, ...siteOption, ...jsonOption },
  example: 'platform keys sign-epoch epoch-bravo.json --dir /media/root-keys',
  async run({ file, yes, ...given }, terminal) {
    const place = foundKeys(given, terminal)
    const { epochIn, alsoSigned } = await offline.epochs()
    const found = epochIn(readInputFile(file))
    const { src, dst, epoch, reason, created } = found.said
    terminal.note(fields(terminal, { from: src, to: dst, epoch, reason, drafted: created }))
    await requireConsent(terminal, yes, `Sign that epoch ${epoch} of ${src} towards ${dst} begins?`)
    const passphrase = await passphraseOf(terminal, given, place)
    const note = await offline.asInvoker(() => alsoSigned(place.keys, found, () => passphrase))
    writeOver(file, `${JSON.stringify(note)}\n`)
    const signatures = note.signatures.length
    show(terminal, given.json, { file, epoch, signatures }, () => `${file} has ${signatures} of its signatures now`)
    return 0
  },
})
