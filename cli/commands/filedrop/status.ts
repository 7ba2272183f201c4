// Shows every channel with its sequence, backlog and trouble.
import { command } from '../../command.ts'
import { paint, type Row, show, table } from '../../output.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'filedrop status',
  summary: 'channels: state, sequence, backlog, gaps, quarantine',
  options: { ...serviceOptions },
  example: 'platform filedrop status',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { items } = await api.call('site.channel.list', {})
    const channels = (items as readonly Row[]).filter((channel) => channel.transport === 'filedrop')
    const columns = [
      'peer',
      'direction',
      'state',
      'epoch',
      'next_seq',
      'backlog',
      'gaps',
      'quarantined',
      'sent',
      'received',
      'duplicates',
      'detail',
    ]
    show(terminal, given.json, { items: channels }, () => table(terminal, channels, columns, 'no peer is pinned'))
    for (const { peer, direction, state, detail } of channels) {
      if (state !== 'open') terminal.note(paint(terminal, 'red', `${peer} ${direction} is ${state}: ${detail}`))
    }
    return 0
  },
})
