// Show a bulk disposition, and what it did not move.

import { formatBulk } from '../../../format/signal-bulk.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal bulk show',
  summary: 'show a bulk disposition, and what it did not move',
  positionals: { id: required(text('BULK', 'its id')) },
  options: serviceOptions,
  example: 'platform signal bulk show blk_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const bulk = await api.call('intelligence.bulk.get', { uid: given.id })
    printResult(terminal, given.json, bulk, () => formatBulk(terminal, bulk))
    return 0
  },
})
