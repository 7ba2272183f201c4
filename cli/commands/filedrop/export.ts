// Copies what waits for a carrier to a medium, under a signed manifest; then it counts as picked up.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { colourText, formatTable, printResult } from '../../terminal/output.ts'
import { formatProgress } from '../../terminal/progress-bar.ts'

export const definition = command({
  words: 'filedrop export',
  summary: 'put what is ready for peers on a courier’s medium; exit code 5 when something stays behind',
  notes: [
    'One folder for a hundred messages, each signed for by a manifest. A message leaves out/ready once it is durable on',
    'the medium; repeated after a failure it goes on where it was. Works while the site runs or not.',
  ].join('\n'),
  positionals: {
    media: required(text('MEDIA', 'a folder on the mounted medium')),
    peer: text('PEER', 'only what is for this peer; else for all'),
  },
  options: { ...siteOption, ...jsonOption },
  example: 'platform filedrop export /media/stick bravo',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { exportToMedium } = await offline.courier()
    const items = await exportToMedium(
      folder,
      terminal.env,
      resolve(given.media),
      given.peer,
      (peer) => (done, all) => {
        terminal.progress(formatProgress(done, all, `messages for ${peer}`))
      },
    )
    terminal.progress('')
    const rows = items.map(({ folders, left, ...item }) => ({ ...item, folders: folders.length, left: left.length }))
    printResult(terminal, given.json, { items }, () =>
      formatTable(terminal, rows, ['peer', 'messages', 'bytes', 'folders', 'left'], 'no peer is pinned'),
    )
    for (const { peer, left } of items) {
      for (const { file, why } of left) terminal.note(colourText(terminal, 'red', `${peer} ${file} stays: ${why}`))
    }
    return items.every(({ left }) => left.length === 0) ? 0 : 5
  },
})
