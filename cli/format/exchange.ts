// Formats exchanges, and warns of what an exchange discloses.
import { formatFields, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { formatDelay } from './job-delay.ts'

export const exchangeColumns = [
  'uid',
  'state',
  { heading: 'mode', cell: (row: OutputRow) => readAgreement(row).privacy },
  { heading: 'parties', cell: (row: OutputRow) => joinNames(readAgreement(row).parties) },
  { heading: 'learns', cell: (row: OutputRow) => joinNames(readAgreement(row).learns) },
  { heading: 'fields', cell: (row: OutputRow) => joinNames(readAgreement(row).fields) },
  { heading: 'most', cell: (row: OutputRow) => readAgreement(row).max_set_size },
]

export function formatExchange(terminal: Terminal, exchange: OutputRow): string {
  const { uid, state, part, run_id, failure } = exchange
  const {
    privacy,
    lens,
    lens_version,
    parties,
    learns,
    linker,
    fields: fieldNames,
    max_set_size,
  } = readAgreement(exchange)
  const reason = (failure as OutputRow | undefined)?.reason
  return formatFields(terminal, {
    exchange: uid,
    state: reason === undefined ? state : `${state} (${reason})`,
    'this site': part,
    mode: privacy,
    lens: `${lens} ${lens_version}`,
    fields: joinNames(fieldNames),
    parties: joinNames(parties),
    learns: joinNames(learns),
    linker,
    'largest set': max_set_size,
    run: run_id,
    ...formatDelay(exchange),
  })
}

/** Prints warnings to stderr, so that a person sees them even if stdout goes to a script. */
export function noteExchangeWarnings(terminal: Terminal, exchange: unknown): void {
  for (const line of (exchange as { readonly warnings?: readonly string[] }).warnings ?? []) {
    terminal.note(`warning: ${line}`)
  }
}

function readAgreement(exchange: OutputRow): OutputRow {
  return (exchange.agreement ?? {}) as OutputRow
}

function joinNames(value: unknown): string {
  return (value as readonly string[] | undefined)?.join(', ') ?? ''
}
