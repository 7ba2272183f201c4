// Opens the next epoch towards a peer, with an announcement that the site's root keys sign here or where they are stored.
import { resolve } from 'node:path'
import type { Jws } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { type EpochAnnouncement, epochAnnouncement } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { max_receipt_bytes, readInputFile } from '../../file/input-file.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { passphraseOption, resolvePassphrase } from '../../options/passphrase.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { requireSite } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, flag, integer, required, text, withDefault } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'filedrop epoch',
  summary: 'Start a new numbering of messages to a peer',
  notes: [
    'Needed after `platform store restore`: the site no longer knows which messages it sent since the backup, and',
    'must not use a number twice. Root keys sign the announcement: those in the site’s key folder, or on a medium',
    'that --keys names. For root keys that must not be connected here, write a draft (--out), sign it with',
    '`platform keys sign-epoch`, and open the epoch with --announcement. If the files were set back as well, the',
    'peer’s `platform filedrop status` shows its epoch: open the one after it.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'Site name of the peer')) },
  options: {
    reason: withDefault('restored', choice('REASON', 'Reason', epochAnnouncement.shape.reason.options)),
    keys: text('DIR', 'Folder with the root keys (default: the site’s key folder)'),
    epoch: integer('NUMBER', 'Epoch to open (default: the next that this site has never used)', 2, 99_999_999),
    out: text('FILE', 'Only write a draft of the announcement, for root keys that are elsewhere'),
    announcement: text('FILE', 'Open the epoch with this draft, which root keys have signed'),
    yes: flag('Skip the confirmation'),
    ...passphraseOption,
    ...serviceOptions,
  },
  example: 'platform filedrop epoch bravo --keys /media/root-keys --yes',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const api = await connectService(params, terminal)
    if (params.announcement !== undefined) {
      if ([params.out, params.keys, params.epoch].some((value) => value !== undefined)) {
        throw new CommandFailure(
          2,
          '--announcement already contains the epoch and its signatures: leave out --out, --keys and --epoch',
        )
      }
      const announcement = await readSignedAnnouncement(params.peer, params.announcement)
      const opened = await api.call('site.epoch.open', { announcement })
      printResult(terminal, params.json, opened, () => formatFields(terminal, opened))
      return 0
    }
    const draft = (await api.call('site.epoch.draft', { peer: params.peer })) as Omit<EpochAnnouncement, 'reason'>
    const announcement: EpochAnnouncement = { ...draft, epoch: params.epoch ?? draft.epoch, reason: params.reason }
    if (params.out !== undefined) {
      writeOutputFile(params.out, `${canonicalJson(announcement)}\n`)
      printResult(terminal, params.json, { file: params.out, ...announcement }, () =>
        formatFields(terminal, { file: params.out, ...announcement }),
      )
      if (!params.json) terminal.note(`sign it with the root keys: platform keys sign-epoch ${params.out} --dir DIR`)
      return 0
    }
    await requireConsent(terminal, params.yes, `Open epoch ${announcement.epoch} towards ${announcement.dst}?`)
    const { signEpoch } = await offline.epochSigning()
    const keys = params.keys === undefined ? undefined : resolve(params.keys)
    const passphrase = await resolvePassphrase(terminal, params, keys === undefined ? folder : { keys }, 'root')
    const envelope =
      keys === undefined
        ? signEpoch(folder.keys, announcement, () => passphrase)
        : offline.asInvoker(() => signEpoch(keys, announcement, () => passphrase))
    const opened = await api.call('site.epoch.open', { announcement: await envelope })
    printResult(terminal, params.json, opened, () => formatFields(terminal, opened))
    return 0
  },
})

/** Reads an announcement. Throws `CommandFailure` (2) if it names another peer or has no signature. */
async function readSignedAnnouncement(peer: string, file: string): Promise<Jws> {
  const { parseEpochFile } = await offline.epochSigning()
  const { announcement, envelope } = parseEpochFile(readInputFile(file, max_receipt_bytes))
  if (announcement.dst !== peer)
    throw new CommandFailure(2, `the announcement is for ${announcement.dst}, not for ${peer}`)
  if (!envelope)
    throw new CommandFailure(2, 'the announcement is not signed', '`platform keys sign-epoch FILE --dir DIR` signs it')
  return envelope
}
