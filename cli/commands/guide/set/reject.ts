// Rejects a held set of artifacts.
import { formatGuidanceSet } from '../../../format/guidance-set.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { setPositional } from '../../../options/set-id.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'guide set reject',
  summary: 'Reject a held set of artifacts',
  notes: 'One administrator may: `platform guide import` holds the same file again.',
  positionals: setPositional,
  options: { reason: required(text('TEXT', 'Justification, kept in the audit chain')), ...serviceOptions },
  example: 'platform guide set reject set_5d0e2c9a4b7f41d88a3c6e19f2b07d54 --reason "made for other tools"',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const rejected = await api.call('gateway.guide.set.reject', { id: params.id, reason: params.reason })
    printResult(terminal, params.json, rejected, () => formatGuidanceSet(terminal, rejected))
    return 0
  },
})
