// Cancel a bulk disposition; what was done stays done.

import { formatBulk } from '../../../format/signal-bulk.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal bulk cancel',
  summary: 'cancel a bulk disposition; what was done stays done',
  positionals: { id: required(text('BULK', 'its id')) },
  options: serviceOptions,
  example: 'platform signal bulk cancel blk_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const bulk = await api.call('intelligence.bulk.cancel', { uid: given.id })
    printResult(terminal, given.json, bulk, () => formatBulk(terminal, bulk))
    return 0
  },
})
