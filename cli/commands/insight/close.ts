// Closes an insight whose signals are all dealt with.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { insightText } from '../../signal-text.ts'

export const definition = command({
  words: 'insight close',
  summary: 'close an insight whose signals are all resolved or dismissed',
  takes: { id: needed(text('INSIGHT', 'the insight’s id')) },
  options: { rationale: needed(text('TEXT', 'why; part of its ledger')), ...changeOptions },
  example: 'platform insight close ins_… --rationale "three buoys"',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call(
      'intelligence.insight.close',
      { uid: given.id, rationale: given.rationale },
      extrasOf(given),
    )
    show(terminal, given.json, changed, () => insightText(terminal, changed))
    return 0
  },
})
