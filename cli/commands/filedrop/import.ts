// Imports the messages that signed manifests on a courier medium list; the medium is not changed.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { colourText, formatFields, printResult } from '../../terminal/output.ts'
import { formatProgress } from '../../terminal/progress-bar.ts'

export const definition = command({
  words: 'filedrop import',
  summary: 'Import messages from a courier medium',
  notes: [
    'Takes only files that the manifest of a pinned peer names, with the digests that the peer signed. Does not',
    'change the medium; a second import of the same medium adds nothing. Exit code 5: something on the medium is',
    'wrong. Works whether or not the site runs.',
  ].join('\n'),
  positionals: { media: required(text('MEDIA', 'Folder on the mounted medium')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform filedrop import /media/stick',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const { importFromMedium } = await offline.courier()
    const summary = await importFromMedium(folder, terminal.env, resolve(params.media), (imported, total) => {
      terminal.progress(formatProgress(imported, total, 'files'))
    })
    terminal.progress('')
    const { messages, by_peer, folders, for_others, faults } = summary
    printResult(terminal, params.json, summary, () =>
      formatFields(terminal, {
        messages,
        ...by_peer,
        folders: folders.length,
        for_other_sites: for_others,
        faults: faults.length,
      }),
    )
    for (const { file, why: reason } of faults) terminal.note(colourText(terminal, 'red', `${file}: ${reason}`))
    return faults.length === 0 ? 0 : 5
  },
})
