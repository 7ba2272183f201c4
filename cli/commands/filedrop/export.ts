// Copies ready messages to a medium under a signed manifest; each then counts as picked up.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { colourText, formatTable, printResult } from '../../terminal/output.ts'
import { formatProgress } from '../../terminal/progress-bar.ts'

export const definition = command({
  words: 'filedrop export',
  summary: 'Copy ready messages to a courier medium',
  notes: [
    'Writes one folder for each hundred messages, each with a signed manifest. A message leaves out/ready once it',
    'is durable on the medium; after a failure, run the command again to continue. Exit code 5: some messages',
    'were not copied. Works whether or not the site runs.',
  ].join('\n'),
  positionals: {
    media: required(text('MEDIA', 'Folder on the mounted medium')),
    peer: text('PEER', 'Only messages for this peer (default: all peers)'),
  },
  options: { ...siteOption, ...jsonOption },
  example: 'platform filedrop export /media/stick bravo',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const { exportToMedium } = await offline.courier()
    const items = await exportToMedium(
      folder,
      terminal.env,
      resolve(params.media),
      params.peer,
      (peer) => (copied, total) => {
        terminal.progress(formatProgress(copied, total, `messages for ${peer}`))
      },
    )
    terminal.progress('')
    const rows = items.map(({ folders, left: remaining, ...item }) => ({
      ...item,
      folders: folders.length,
      left: remaining.length,
    }))
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, rows, ['peer', 'messages', 'bytes', 'folders', 'left'], 'no peer is pinned'),
    )
    for (const { peer, left: remaining } of items) {
      for (const { file, why: reason } of remaining)
        terminal.note(colourText(terminal, 'red', `${peer} ${file} stays: ${reason}`))
    }
    return items.every(({ left: remaining }) => remaining.length === 0) ? 0 : 5
  },
})
