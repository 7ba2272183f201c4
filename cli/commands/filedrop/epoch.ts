// Opens the next epoch towards a peer, by an announcement that the site's root keys sign here.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/boot/offline.ts'
import { type EpochAnnouncement, epochAnnouncement } from '../../../daemon/kernel/one-way.ts'
import { command } from '../../command.ts'
import { requireConsent } from '../../consent.ts'
import { fields, show } from '../../output.ts'
import { choice, flag, needed, otherwise, text, whole } from '../../params.ts'
import { passphraseOf, passphraseOption } from '../../passphrase.ts'
import { service, serviceOptions } from '../../service.ts'
import { requireSite } from '../../site.ts'

export const definition = command({
  words: 'filedrop epoch',
  summary: 'begin the numbers towards a peer anew, as after a restore',
  notes: [
    'Needed after `platform store restore`: what was sent since the backup is forgotten, and no number may be given',
    'twice. Signed by the root keys, in the site’s key folder or on a medium that --keys names.',
    'Where the files were set back as well, the peer’s `platform filedrop status` shows its epoch: open the one after.',
  ].join('\n'),
  takes: { peer: needed(text('PEER', 'the peer’s site name')) },
  options: {
    reason: otherwise('restored', choice('REASON', 'why', epochAnnouncement.shape.reason.options)),
    keys: text('DIR', 'the folder with the root keys; else the site’s own'),
    epoch: whole('NUMBER', 'this epoch; else the next that this site has never used', 2, 99_999_999),
    yes: flag('do not ask'),
    ...passphraseOption,
    ...serviceOptions,
  },
  example: 'platform filedrop epoch bravo --keys /media/root-keys --yes',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const api = await service(given, terminal)
    const draft = (await api.call('site.epoch.draft', { peer: given.peer })) as Omit<EpochAnnouncement, 'reason'>
    const said: EpochAnnouncement = { ...draft, epoch: given.epoch ?? draft.epoch, reason: given.reason }
    await requireConsent(terminal, given.yes, `Open epoch ${said.epoch} towards ${said.dst}?`)
    const { signEpoch } = await offline.epochs()
    const keys = given.keys === undefined ? undefined : resolve(given.keys)
    const passphrase = await passphraseOf(terminal, given, keys === undefined ? folder : { keys }, 'root')
    const signing =
      keys === undefined
        ? signEpoch(folder.keys, said, () => passphrase)
        : offline.asInvoker(() => signEpoch(keys, said, () => passphrase))
    const opened = await api.call('site.epoch.open', { announcement: await signing })
    show(terminal, given.json, opened, () => fields(terminal, opened))
    return 0
  },
})
