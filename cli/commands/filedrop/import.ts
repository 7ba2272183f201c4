// Takes in what peers put on a courier's medium, by their signed manifests; the medium is not changed.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { fields, paint, printable, show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { progressLine } from '../../progress-bar.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'filedrop import',
  summary: 'take messages from a courier’s medium; exit code 5 when something on it is wrong',
  notes: [
    'Only files that the manifest of a pinned site names, with the digests that it signed. Nothing on the medium is',
    'changed, and a medium imported twice brings nothing new. Works while the site runs or not.',
  ].join('\n'),
  takes: { media: needed(text('MEDIA', 'a folder on the mounted medium')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform filedrop import /media/stick',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { importFrom } = await offline.courier()
    const taken = await importFrom(folder, terminal.env, resolve(given.media), (done, all) => {
      terminal.progress(progressLine(done, all, 'files'))
    })
    terminal.progress('')
    const { messages, by_peer, folders, for_others, faults } = taken
    show(terminal, given.json, taken, () =>
      fields(terminal, {
        messages,
        ...by_peer,
        folders: folders.length,
        for_other_sites: for_others,
        faults: faults.length,
      }),
    )
    for (const { file, why } of faults) terminal.note(paint(terminal, 'red', printable(`${file}: ${why}`)))
    return faults.length === 0 ? 0 : 5
  },
})
