// Requirements of sources that know which rows are new, as data that run against each of them.
import { expect } from 'vitest'
import type { RowPosition } from '../../daemon/kernel/data/landed-dataset.ts'
import { NewRows } from '../../daemon/runtime/ingest/connection/new-rows.ts'
import { expectRefusal, neverAborted, type RowSourceVariant, withSource } from './row-source.ts'

/** A table `growing` of `id`, `at` (a time with fractions) and `name`, empty at first. */
export type GrowingTable = {
  /** Default: growing. */
  readonly table?: string
  /** Further columns that grow with the rows. */
  readonly also?: readonly string[]
  /** Makes the table again, without rows. */
  clear(): Promise<void> | void
  insert(rows: readonly GrowingRow[]): Promise<void> | void
  /** Columns of it, or of others, that cannot be the cursor, each with the refusal. */
  readonly refused: readonly (readonly [table: string, column: string, refusal: string])[]
}
export type GrowingRow = { readonly id: string; readonly at: string; readonly name: string }

/** Reads what is new by a column, as the runs of one task do. */
class GrowingReader {
  readonly #variant: RowSourceVariant
  readonly #column: string
  #position: RowPosition | undefined

  constructor(variant: RowSourceVariant, column: string) {
    this.#variant = variant
    this.#column = column
  }

  async read(table = this.#variant.growing?.table ?? 'growing'): Promise<string[]> {
    const news = new NewRows(this.#column, this.#position)
    const lines = await withSource(this.#variant, async (source) => {
      const taken: string[] = []
      for await (const block of source.rows({ table, cursor: news.cursor() }, neverAborted))
        taken.push(...news.take(block))
      return taken
    })
    this.#position = news.position()
    return lines.map((line) => String(JSON.parse(line).name)).toSorted()
  }
}

const rowsOf = (names: string, id: string, at: string): GrowingRow[] => [...names].map((name) => ({ id, at, name }))
const [early, later, last] = ['2024-02-29 13:00:00.000001', '2024-02-29 13:00:00.5', '2024-03-01 00:00:00']

/** Title to the requirement: what each source that can tell which rows are new keeps. */
export const growingRequirements: Readonly<
  Record<string, (variant: RowSourceVariant & { readonly growing: GrowingTable }) => Promise<void>>
> = {
  async 'each row is read once, by a column of each kind, also among rows of one value'(variant) {
    const { growing } = variant
    await growing.clear()
    const readers = ['id', 'at', 'name', ...(growing.also ?? [])].map((column) => new GrowingReader(variant, column))
    const readAll = async () => await Promise.all(readers.map((reader) => reader.read()))
    const each = (names: string) => readers.map(() => [...names])
    expect(await readAll()).toEqual(each(''))
    await growing.insert([...rowsOf('ab', '7', early), ...rowsOf('Bcc', '9007199254740993', later)].reverse())
    expect(await readAll()).toEqual(each('Babcc'))
    expect(await readAll()).toEqual(each(''))
    await growing.insert(rowsOf('cc', '9007199254740993', later))
    expect(await readAll()).toEqual(each('cc'))
    await growing.insert([...rowsOf('d', '9007199254740993', later), ...rowsOf('ez', '9007199254740994', last)])
    expect(await readAll()).toEqual(each('dez'))
    await growing.insert(rowsOf('žž', '9007199254740994', last))
    expect(await readAll()).toEqual(each('žž'))
    expect(await readAll()).toEqual(each(''))
  },
  async 'more rows than a block has are read once'(variant) {
    const { growing } = variant
    await growing.clear()
    const many = (from: number) =>
      Array.from({ length: 600 }, (_, at) => ({ id: String(from + at), at: early, name: `n${from + at}` }))
    const reader = new GrowingReader(variant, 'id')
    await growing.insert(many(0))
    expect(await reader.read()).toHaveLength(600)
    await growing.insert(many(600))
    expect(new Set(await reader.read())).toEqual(new Set(many(600).map(({ name }) => name)))
    const byTime = new GrowingReader(variant, 'at')
    expect(await byTime.read()).toHaveLength(1_200)
    await growing.insert(many(1_200))
    expect(new Set(await byTime.read())).toEqual(new Set(many(1_200).map(({ name }) => name)))
  },
  async 'a column that cannot be the cursor is refused with the reason'(variant) {
    for (const [table, column, refusal] of variant.growing.refused) {
      const message = await new GrowingReader(variant, column).read(table).then(
        () => 'it was read',
        (error: Error) => error.message,
      )
      expectRefusal(variant, message, refusal)
    }
  },
}
