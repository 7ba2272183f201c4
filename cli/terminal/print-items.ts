// Prints a list: the items on stdout, and on stderr how many there are and how to continue.
import type { DocumentTotal } from '../../daemon/kernel/store/store.ts'
import { formatCount, formatTotal } from '../client/format-total.ts'
import { printResult } from './output.ts'
import type { Terminal } from './terminal.ts'

type PrintedItems = DocumentTotal & { readonly items: readonly object[]; readonly next_cursor?: string }

/** With `json` one document: `items`, `total`, `total_is` and, where more follow, `next_cursor`. */
export function printItems(terminal: Terminal, json: boolean, page: PrintedItems, human: () => string): void {
  const { items, total, total_is, next_cursor } = page
  printResult(terminal, json, { items, total, total_is, next_cursor }, human)
  if (!json && (items.length > 0 || total > 0)) terminal.note(describeItems(page))
}

/** A list that is read as a whole, without a service. */
export function printWholeList(terminal: Terminal, json: boolean, items: readonly object[], human: () => string): void {
  printItems(terminal, json, { items, total: items.length, total_is: 'exact' }, human)
}

/** `50 of 1,034`, with the cursor of the next page. */
export function describeItems({ items, next_cursor, ...counted }: PrintedItems): string {
  const place = `${formatCount(items.length)} of ${formatTotal(counted)}`
  return next_cursor === undefined ? place : `${place}; next page: --cursor ${next_cursor}`
}
