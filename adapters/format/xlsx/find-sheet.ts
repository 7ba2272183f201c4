// The sheet of a workbook that a person names.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

type NamedSheet = { readonly name: string; readonly isHidden: boolean }

/** The names in their order, and the first one that a person sees. */
export type SheetNames = { readonly names: readonly string[]; readonly first: string }

/** By its name, or its number from 1; the only one may be left out. Throws `DataFault`. */
export function findSheet<Sheet extends NamedSheet>(sheets: readonly Sheet[], wanted: string | undefined): Sheet {
  const [only] = sheets
  if (wanted === undefined && only && sheets.length === 1) return only
  const found = sheets.find(({ name }) => name === wanted) ?? sheets[Number(wanted) - 1]
  if (found) return found
  const names = sheets.map(({ name }, at) => `${at + 1} ${JSON.stringify(name)}`).join(', ')
  if (wanted === undefined) throw new DataFault(`the workbook has several sheets, and none is named: ${names}`)
  throw new DataFault(`the workbook has no sheet ${JSON.stringify(wanted)}; it has ${names}`)
}

export function nameSheets(sheets: readonly NamedSheet[]): SheetNames {
  const first = sheets.find(({ isHidden }) => !isHidden) ?? sheets[0]
  return { names: sheets.map(({ name }) => name), first: first?.name ?? '' }
}
