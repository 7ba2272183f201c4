// Moves a signal on by a person’s decision.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { choice, needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { signalText } from '../../signal-text.ts'

export const definition = command({
  words: 'signal dispose',
  summary: 'set the disposition of a signal',
  takes: { id: needed(text('SIGNAL', 'the signal’s id')) },
  options: {
    to: needed(choice('STATUS', 'what it becomes', ['acknowledged', 'investigating', 'resolved', 'dismissed'])),
    rationale: needed(text('TEXT', 'why; part of its history')),
    ...changeOptions,
  },
  example: 'platform signal dispose sig_… --to dismissed --rationale "a buoy"',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call(
      'intelligence.signal.set-disposition',
      { uid: given.id, disposition: given.to, rationale: given.rationale },
      extrasOf(given),
    )
    show(terminal, given.json, changed, () => signalText(terminal, changed))
    return 0
  },
})
