// Cancel a bulk disposition; what was done stays done.
import { command } from '../../../command.ts'
import { show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'
import { bulkText } from '../../../signal-bulk.ts'

export const definition = command({
  words: 'signal bulk cancel',
  summary: 'cancel a bulk disposition; what was done stays done',
  takes: { id: needed(text('BULK', 'its id')) },
  options: serviceOptions,
  example: 'platform signal bulk cancel blk_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const bulk = await api.call('intelligence.bulk.cancel', { uid: given.id })
    show(terminal, given.json, bulk, () => bulkText(terminal, bulk))
    return 0
  },
})
