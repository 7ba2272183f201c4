// Starts a run on the service.

import { readJsonFile } from '../../file/json-file.ts'
import { findHeldRunFailure, formatFusionRun, waitForRun } from '../../format/fusion-run.ts'
import { classificationOptions, resolveClassification } from '../../options/classification.ts'
import { seedOption } from '../../options/seed-option.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { decimal, flag, required, rest, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve start',
  summary: 'Start a run on the service over the records of nodes',
  notes: [
    'A data file is in the folder of the tenant below resolution.data_folder at the site; give its name there. A',
    'few records can be sent along instead: a file with a JSON list of records. A run whose estimated quality is',
    'poor is held before it changes the registry, until `resolve accept` or `resolve cancel`; with --wait the',
    'command then ends with exit code 6.',
  ].join('\n'),
  options: {
    lens: required(text('LENS', 'Uid or name of a lens of the service')),
    lensVersion: text('VERSION', 'Version of the lens (default: the newest)'),
    data: rest('NODE=NAME', 'Data file at the site, one for each node (default: none)'),
    records: rest('NODE=FILE', 'Records to send along, one file for each node (default: none)'),
    idField: text('COLUMN', 'Column with the id of each record (default: id_field of the lens)'),
    threshold: decimal(
      'BITS',
      'Log-odds at or above which records are linked (default: that of the lens, else found in the data)',
      -1_000,
      1_000,
    ),
    nullPenalty: decimal(
      'BITS',
      'Score penalty for a field that is missing in one record (default: that of the lens)',
      0,
      100,
    ),
    acceptPoor: flag('Accept a result whose estimated quality is poor: update the registry'),
    wait: flag('Wait until the run has ended or is held'),
    seed: seedOption,
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key returns the same run'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example: 'platform resolve start --lens persons --data east=people-east.csv west=people-west.csv',
  async run(params, terminal) {
    const { lens, lensVersion, data, records, idField, threshold, nullPenalty, acceptPoor, seed, idempotencyKey } =
      params
    const nodes = [
      ...data.map((pair) => parseNodeValue(pair, (file) => ({ file }))),
      ...records.map((pair) => parseNodeValue(pair, readJsonFile)),
    ]
    if (new Set(nodes.map(([node]) => node)).size < nodes.length) throw new CommandFailure(2, 'a node is named twice')
    const api = await connectService(params, terminal)
    const started = await api.call(
      'resolution.fusion-run.start',
      {
        lens_id: lens,
        lens_version: lensVersion,
        node_data: Object.fromEntries(nodes),
        id_field: idField,
        threshold,
        null_penalty: nullPenalty,
        accept_poor: acceptPoor || undefined,
        seed,
        classification: await resolveClassification(params, terminal),
      },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    const run = params.wait ? await waitForRun(api, started, terminal) : started
    printResult(terminal, params.json, run, () => formatFusionRun(terminal, run))
    const failure = params.wait ? findHeldRunFailure(run) : undefined
    if (failure) throw failure
    return 0
  },
})

function parseNodeValue<T>(pair: string, parseValue: (value: string) => T): [node: string, value: T] {
  const [, node, value] = /^([^=]+)=(.+)$/.exec(pair) ?? []
  if (node === undefined || value === undefined)
    throw new CommandFailure(2, `${JSON.stringify(pair)} does not have the form NODE=NAME`)
  return [node, parseValue(value)]
}
