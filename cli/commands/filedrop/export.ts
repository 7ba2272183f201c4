// Copies what waits for a carrier to a medium, under a signed manifest; then it counts as picked up.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { paint, show, table } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { progressLine } from '../../progress-bar.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'filedrop export',
  summary: 'put what is ready for peers on a courier’s medium; exit code 5 when something stays behind',
  notes: [
    'One folder for a hundred messages, each signed for by a manifest. A message leaves out/ready once it is durable on',
    'the medium; repeated after a failure it goes on where it was. Works while the site runs or not.',
  ].join('\n'),
  takes: {
    media: needed(text('MEDIA', 'a folder on the mounted medium')),
    peer: text('PEER', 'only what is for this peer; else for all'),
  },
  options: { ...siteOption, ...jsonOption },
  example: 'platform filedrop export /media/stick bravo',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { exportTo } = await offline.courier()
    const items = await exportTo(folder, terminal.env, resolve(given.media), given.peer, (peer) => (done, all) => {
      terminal.progress(progressLine(done, all, `messages for ${peer}`))
    })
    terminal.progress('')
    const rows = items.map(({ folders, left, ...item }) => ({ ...item, folders: folders.length, left: left.length }))
    show(terminal, given.json, { items }, () =>
      table(terminal, rows, ['peer', 'messages', 'bytes', 'folders', 'left'], 'no peer is pinned'),
    )
    for (const { peer, left } of items) {
      for (const { file, why } of left) terminal.note(paint(terminal, 'red', `${peer} ${file} stays: ${why}`))
    }
    return items.every(({ left }) => left.length === 0) ? 0 : 5
  },
})
