// Sends a signal to a peer.
import { command } from '../../command.ts'
import { fields, show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'signal send',
  summary: 'send a signal to a peer, where its label lets it leave; a repeat changes nothing',
  takes: { id: needed(text('SIGNAL', 'the signal’s id')) },
  options: { peer: needed(text('PEER', 'the peer’s name')), ...serviceOptions },
  example: 'platform signal send sig_… --peer bravo',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const sent = await api.call('intelligence.signal.send', { uid: given.id, peer: given.peer })
    show(terminal, given.json, sent, () => fields(terminal, sent))
    return 0
  },
})
