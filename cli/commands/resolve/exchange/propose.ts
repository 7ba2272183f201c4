// Proposes a joint resolution to a peer, after showing what it discloses.

import { formatExchange, noteExchangeWarnings } from '../../../format/exchange.ts'
import { classificationOptions, resolveClassification } from '../../../options/classification.ts'
import { seedOption } from '../../../options/seed-option.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { choice, decimal, flag, integer, nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve exchange propose',
  summary: 'Propose to a peer to resolve the records of both sites',
  notes: [
    'Nothing leaves this site before the peer has agreed. none: the parties that learn receive the fields in',
    'clear. psi: only equal keys are revealed, but fields with few possible values can be guessed. clk: a third',
    'site, the linker, compares bit vectors, and can detect frequent values. All sites see the set sizes, and are',
    'trusted to follow the protocol. docs/privacy.md lists what each party learns.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'Other party')) },
  options: {
    mode: required(choice('MODE', 'Privacy mode', ['none', 'psi', 'clk'])),
    lens: required(text('LENS', 'Uid or name of the lens; the peer must have an identical one')),
    lensVersion: text('VERSION', 'Version of the lens (default: the newest)'),
    fields: required(nameList('A,B', 'Fields of the lens to compare')),
    file: required(text('FILE', 'Data file of this site, in the tenant’s folder at the site')),
    learns: required(nameList('SITE,...', 'Parties that learn which records match')),
    most: required(integer('COUNT', 'Maximum number of records of either party', 1, 1_000_000)),
    mostBytes: integer('BYTES', 'With none: maximum bytes of the records of either party', 1, 4_294_967_296),
    linker: text('SITE', 'With clk: third site, which has no key'),
    threshold: decimal('SHARE', 'With clk: minimum Dice coefficient of a match', 0.5, 1),
    acceptDictionaryRisk: flag('With clk and a party as linker: accept that it can guess every value of the other'),
    seed: seedOption,
    idempotencyKey: text('KEY', 'Idempotency key: a repeat with the same key returns the same exchange'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example:
    'platform resolve exchange propose bravo --mode psi --lens persons --fields surname,date_of_birth --file members.csv --learns alpha,bravo --most 50000',
  async run(params, terminal) {
    const { peer, mode, lens, lensVersion, file, most, mostBytes, linker, threshold, seed, idempotencyKey } = params
    const api = await connectService(params, terminal)
    const exchange = await api.call(
      'resolution.exchange.propose',
      {
        peer,
        lens_id: lens,
        ...(lensVersion === undefined ? {} : { lens_version: lensVersion }),
        fields: [...params.fields],
        privacy: mode,
        learns: [...params.learns],
        max_set_size: most,
        ...(mostBytes === undefined ? {} : { max_set_bytes: mostBytes }),
        ...(linker === undefined ? {} : { linker }),
        ...(threshold === undefined ? {} : { clk: { threshold } }),
        accept_dictionary_risk: params.acceptDictionaryRisk,
        seed,
        data: { file },
        classification: await resolveClassification(params, terminal),
      },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    noteExchangeWarnings(terminal, exchange)
    printResult(terminal, params.json, exchange, () => formatExchange(terminal, exchange))
    return 0
  },
})
