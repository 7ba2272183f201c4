// Sends a signal to a peer.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal send',
  summary: 'send a signal to a peer, where its label lets it leave; a repeat changes nothing',
  positionals: { id: required(text('SIGNAL', 'the signal’s id')) },
  options: { peer: required(text('PEER', 'the peer’s name')), ...serviceOptions },
  example: 'platform signal send sig_… --peer bravo',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const sent = await api.call('intelligence.signal.send', { uid: given.id, peer: given.peer })
    printResult(terminal, given.json, sent, () => formatFields(terminal, sent))
    return 0
  },
})
