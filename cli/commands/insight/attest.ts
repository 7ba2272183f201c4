// Attests an edition of an insight.
import { command } from '../../command.ts'
import { show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service } from '../../service.ts'
import { changeOptions, extrasOf } from '../../signal-options.ts'
import { insightText } from '../../signal-text.ts'

export const definition = command({
  words: 'insight attest',
  summary: 'attest an edition; one that closes resolves the signals and closes the insight',
  takes: { id: needed(text('INSIGHT', 'the insight’s id')) },
  options: {
    edition: needed(text('EDITION', 'the edition’s id')),
    rationale: text('TEXT', 'why; kept with it'),
    ...changeOptions,
  },
  example: 'platform insight attest ins_… --edition edn_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const changed = await api.call(
      'intelligence.edition.attest',
      { uid: given.id, edition_id: given.edition, rationale: given.rationale },
      extrasOf(given),
    )
    show(terminal, given.json, changed, () => insightText(terminal, changed))
    return 0
  },
})
