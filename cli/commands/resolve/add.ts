// Sends records to the service, which matches them against its registry without a run.

import { readJsonFile } from '../../file/json-file.ts'
import { outcomeColumns } from '../../format/outcome-columns.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve add',
  summary: 'Match new records against the registry of the service',
  notes: [
    'The outcome of each record is `new` if it began an entity, `joined` if it joined one, `merged` if others went',
    'into that one by it (MERGED FROM), `replaced` if a record of the same node and id had other content, and',
    '`unchanged` if it had the same. Scores use the weights of the latest run. Uncertain pairs are proposed as',
    'matches, as in a run. For more than 500 records, start a run.',
  ].join('\n'),
  positionals: {
    file: required(text('FILE', 'JSON list of records, each an object of column to value; - reads stdin')),
  },
  options: {
    node: required(text('NODE', 'Node of the records')),
    lens: text('LENS', 'Uid or name of the lens (default: the one in use)'),
    type: text('TYPE', 'Entity type, to select its lens in use'),
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key returns the same answer'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform resolve add new-people.json --node east',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { node: node_id, lens: lens_id, type: entity_type, idempotencyKey } = params
    const classification = await resolveClassification(params, terminal)
    const request = { records: readJsonFile(params.file), node_id, lens_id, entity_type, classification }
    const extras = idempotencyKey ? { idempotency_key: idempotencyKey } : {}
    const response = await api.call('resolution.arrival.create', request, extras)
    const { items, state, failure } = response as ArrivalResponse
    printResult(terminal, params.json, response, () =>
      formatTable(terminal, items, ['record_id', ...outcomeColumns(items)], 'no records'),
    )
    if (state === 'waiting') terminal.note('the records are stored, and matched as soon as no run writes the registry')
    if (failure) throw new CommandFailure(3, failure.reason)
    return 0
  },
})

type ArrivalResponse = {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly state: 'waiting' | 'matched' | 'failed'
  readonly failure?: { readonly reason: string }
}
