// Shows how an entity was built: which records joined or left it, when and by what.
import { fetchItems } from '../../../client/fetch-items.ts'
import { formatEntityChange } from '../../../format/entity-change.ts'
import { pageOptions, selectItems } from '../../../options/page-options.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { line_break } from '../../../terminal/output.ts'
import { printItems } from '../../../terminal/print-items.ts'

export const definition = command({
  words: 'resolve entity history',
  summary: 'Show how an entity was built: records that joined or left, when and why',
  notes: [
    'The oldest change first, with the strongest match of each record that joined, as it is now. Records are named by',
    'node and ID, never by values. Changes are kept for resolution.change_days (365).',
  ].join('\n'),
  positionals: { entity: required(text('ENTITY', 'ID of the entity')) },
  options: { ...pageOptions, ...serviceOptions },
  example: 'platform resolve entity history ent_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const page = await fetchItems(api, 'resolution.entity-change.history', { uid: params.entity }, selectItems(params))
    printItems(
      terminal,
      params.json,
      page,
      () => page.items.map(formatEntityChange).join(line_break) || 'no change of the entity is kept',
    )
    return 0
  },
})
