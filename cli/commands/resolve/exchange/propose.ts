// Proposes to a peer to resolve together, and says what that gives away.

import { formatExchange, noteExchangeWarnings } from '../../../format/exchange.ts'
import { classificationOptions, resolveClassification } from '../../../options/classification.ts'
import { seedOption } from '../../../options/seed-option.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { choice, decimal, flag, integer, nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve exchange propose',
  summary: 'propose to a peer to find who is who over both sites',
  notes: [
    'Nothing leaves this site before the peer has agreed. none: whoever learns is sent the fields as they',
    'are. psi: equal keys and nothing else, but values that are few can be guessed. clk: a third site,',
    'the linker, compares bit vectors, and can tell frequent values. All sites see the sizes, and are',
    'believed to keep to the protocol. docs/privacy.md says who learns what.',
  ].join('\n'),
  positionals: { peer: required(text('PEER', 'the other party')) },
  options: {
    mode: required(choice('MODE', 'what travels', ['none', 'psi', 'clk'])),
    lens: required(text('LENS', 'its uid or name; the peer must have the same, word for word')),
    lensVersion: text('VERSION', 'its newest unless said'),
    fields: nameList('A,B', 'fields of the lens that are compared'),
    file: required(text('FILE', 'the data file, in the tenant’s folder at the site')),
    learns: nameList('SITE,...', 'the parties that learn which records match'),
    most: required(integer('COUNT', 'most records of either party', 1, 1_000_000)),
    mostBytes: integer('BYTES', 'with none: most bytes of the records of either party', 1, 4_294_967_296),
    linker: text('SITE', 'with clk: the third site, which has no key'),
    threshold: decimal('SHARE', 'with clk: least Dice coefficient of a match', 0.5, 1),
    acceptDictionaryRisk: flag('with clk and a party as linker: it can guess at every value of the other'),
    seed: seedOption,
    idempotencyKey: text('KEY', 'a repeat with the same key finds the same exchange'),
    ...classificationOptions,
    ...serviceOptions,
  },
  example:
    'platform resolve exchange propose bravo --mode psi --lens persons --fields surname,date_of_birth --file members.csv --learns alpha,bravo --most 50000',
  async run(given, terminal) {
    const { peer, mode, lens, lensVersion, file, most, mostBytes, linker, threshold, seed, idempotencyKey } = given
    const api = await connectService(given, terminal)
    const exchange = await api.call(
      'resolution.exchange.propose',
      {
        peer,
        lens_id: lens,
        ...(lensVersion === undefined ? {} : { lens_version: lensVersion }),
        fields: [...given.fields],
        privacy: mode,
        learns: [...given.learns],
        max_set_size: most,
        ...(mostBytes === undefined ? {} : { max_set_bytes: mostBytes }),
        ...(linker === undefined ? {} : { linker }),
        ...(threshold === undefined ? {} : { clk: { threshold } }),
        accept_dictionary_risk: given.acceptDictionaryRisk,
        seed,
        data: { file },
        classification: await resolveClassification(given, terminal),
      },
      idempotencyKey ? { idempotency_key: idempotencyKey } : {},
    )
    noteExchangeWarnings(terminal, exchange)
    printResult(terminal, given.json, exchange, () => formatExchange(terminal, exchange))
    return 0
  },
})
