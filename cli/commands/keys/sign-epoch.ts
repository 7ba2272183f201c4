// Signs a drafted epoch announcement with the root keys of a folder; needs neither site nor daemon.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { max_receipt_bytes, readInputFile } from '../../file/input-file.ts'
import { replaceFile } from '../../file/replace-file.ts'
import { dirOption, requireKeyLocation } from '../../options/key-location.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys sign-epoch',
  summary: 'Sign a drafted epoch announcement with root keys',
  notes: [
    'For root keys that are never connected, or stored apart: `platform filedrop epoch PEER --out FILE` drafts it',
    'at the site, each root key signs it where it is stored, and `platform filedrop epoch PEER --announcement',
    'FILE` opens the epoch.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Draft; the signature is added to it')) },
  options: { yes: flag('Skip the confirmation'), ...passphraseOption, ...dirOption, ...siteOption, ...jsonOption },
  example: 'platform keys sign-epoch epoch-bravo.json --dir /media/root-keys',
  async run({ file, yes, ...params }, terminal) {
    const location = requireKeyLocation(params, terminal)
    const { parseEpochFile, addEpochSignatures } = await offline.epochSigning()
    const epochFile = parseEpochFile(readInputFile(file, max_receipt_bytes))
    const { src, dst, epoch, reason, created } = epochFile.announcement
    terminal.note(formatFields(terminal, { from: src, to: dst, epoch, reason, drafted: created }))
    await requireConsent(terminal, yes, `Sign that epoch ${epoch} of ${src} towards ${dst} begins?`)
    const passphrase = await resolvePassphrase(terminal, params, location)
    const signedFile = await offline.asInvoker(() => addEpochSignatures(location.keys, epochFile, () => passphrase))
    replaceFile(file, `${JSON.stringify(signedFile)}\n`)
    const signatures = signedFile.signatures.length
    printResult(terminal, params.json, { file, epoch, signatures }, () => `${file} has ${signatures} signatures now`)
    return 0
  },
})
