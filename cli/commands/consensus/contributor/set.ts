// Enrols a contributor, or replaces its keys and speakers.
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { nameList, required, text } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'consensus contributor set',
  summary: 'Enrol a contributor, or replace its keys and speakers',
  notes: 'In force at once. What the contributor has contributed stays.',
  positionals: { name: required(text('NAME', 'Name of the contributor')) },
  options: {
    keys: required(nameList('KEY,...', 'Ids of the keys that may sign for it')),
    speakers: nameList('SUBJECT,...', 'Subjects that may submit for it, besides itself (default: none)'),
    ...serviceOptions,
  },
  example: 'platform consensus contributor set sensor-7 --keys sensor-7-1 --speakers ann',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const input = { name: params.name, signer_keys: params.keys, spoken_for_by: params.speakers }
    const contributor = await api.call('consensus.contributor.set', input)
    printResult(terminal, params.json, contributor, () => formatFields(terminal, contributor))
    return 0
  },
})
