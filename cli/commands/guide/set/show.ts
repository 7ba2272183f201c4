// Shows a set of artifacts of another site, each beside what is active here.
import { fetchItems } from '../../../client/fetch-items.ts'
import { formatGuidanceSet, formatSetArtifacts } from '../../../format/guidance-set.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { setPositional } from '../../../options/set-id.ts'
import { command } from '../../../program/command.ts'
import { paragraph_break, printResult } from '../../../terminal/output.ts'

/** A set has no more. */
const max_artifacts = 500

export const definition = command({
  words: 'guide set show',
  summary: 'Show a set of artifacts of another site, each beside what is active here',
  notes: [
    'new: nothing active here is about it; changed: an earlier set has brought another version; same: it would change',
    'nothing; conflict: this site has decided otherwise, or has guidance of its own about the same thing. A mark is a',
    'hint, not a proof: read the texts.',
  ].join('\n'),
  positionals: setPositional,
  options: serviceOptions,
  example: 'platform guide set show set_5d0e2c9a4b7f41d88a3c6e19f2b07d54',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const set = await api.call('gateway.guide.set.get', { id: params.id })
    const selection = { limit: max_artifacts }
    const { items } = await fetchItems(api, 'gateway.guide.set.artifacts', { id: params.id }, selection)
    printResult(terminal, params.json, { ...set, items }, () =>
      [formatGuidanceSet(terminal, set), formatSetArtifacts(terminal, items)].join(paragraph_break),
    )
    return 0
  },
})
