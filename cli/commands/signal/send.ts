// Sends a signal to a peer.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal send',
  summary: 'Send a signal to a peer, if its label permits; a repeat changes nothing',
  positionals: { id: required(text('SIGNAL', 'ID of the signal')) },
  options: { peer: required(text('PEER', 'Name of the peer')), ...serviceOptions },
  example: 'platform signal send sig_… --peer bravo',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const receipt = await api.call('intelligence.signal.send', { uid: params.id, peer: params.peer })
    printResult(terminal, params.json, receipt, () => formatFields(terminal, receipt))
    return 0
  },
})
