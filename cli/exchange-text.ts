// An exchange as people read it; what it gives away is said each time somebody is about to take part.
import { fields, type Row } from './output.ts'
import type { Terminal } from './terminal.ts'

export const exchangeColumns = [
  'uid',
  'state',
  { heading: 'mode', cell: (row: Row) => agreementOf(row).privacy },
  { heading: 'parties', cell: (row: Row) => listOf(agreementOf(row).parties) },
  { heading: 'learns', cell: (row: Row) => listOf(agreementOf(row).learns) },
  { heading: 'fields', cell: (row: Row) => listOf(agreementOf(row).fields) },
  { heading: 'most', cell: (row: Row) => agreementOf(row).max_set_size },
]

export function exchangeText(terminal: Terminal, exchange: Row): string {
  const { uid, state, part, run_id, failure } = exchange
  const { privacy, lens, lens_version, parties, learns, linker, fields: named, max_set_size } = agreementOf(exchange)
  const reason = (failure as Row | undefined)?.reason
  return fields(terminal, {
    exchange: uid,
    state: reason === undefined ? state : `${state} (${reason})`,
    'this site': part,
    mode: privacy,
    lens: `${lens} ${lens_version}`,
    fields: listOf(named),
    parties: listOf(parties),
    learns: listOf(learns),
    linker,
    'largest set': max_set_size,
    run: run_id,
  })
}

/** On stderr, so that it is seen whatever becomes of the answer. */
export function warn(terminal: Terminal, exchange: unknown): void {
  for (const line of (exchange as { readonly warnings?: readonly string[] }).warnings ?? []) {
    terminal.note(`warning: ${line}`)
  }
}

function agreementOf(exchange: Row): Row {
  return (exchange.agreement ?? {}) as Row
}

function listOf(value: unknown): string {
  return (value as readonly string[] | undefined)?.join(', ') ?? ''
}
